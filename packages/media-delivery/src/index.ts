// Every line here is a promise to users.
export { fitAttachments, leftOutNote } from './attachment-budget.ts';
export type { Budget, FittedFiles } from './attachment-budget.ts';
export { DELIVERY_MATRIX, placeOf } from './delivery-matrix.ts';
export type { CapableModels, DeliveryCell, DeliveryRow } from './delivery-matrix.ts';
export type { FormatFaultCode } from './formats/fault.ts';
export type { MediaFacts } from './formats/facts.ts';
export { inspect } from './inspect.ts';
export type { Inspection } from './inspect.ts';
export {
  ATTACHMENT_BUDGET,
  COMMON_LIMITS,
  DEFAULT_MAX_COUNT,
  DEFAULT_MAX_PDF_PAGES,
  FAMILY_LIMITS,
  maxBytesOf,
  maxCountOf,
} from './limits.ts';
export type { FamilyLimits } from './limits.ts';
export { mediaTokens, withoutAttachments } from './media-cost.ts';
export { MEDIA_FORMATS, formatOf } from './media-formats.ts';
export type { MediaFormat } from './media-formats.ts';
export { createMediaGate } from './media-gate.ts';
export type { MediaGateOptions } from './media-gate.ts';
export { mediaPlacer } from './placement.ts';
export { sniff } from './sniff.ts';
export type { Sniffed } from './sniff.ts';
