// Every line here is a promise to users.
export type { ModelCatalogue } from './catalogue/known-models.ts';
export type { FactSource, ModelFacts } from './catalogue/model-facts.ts';
export { readModelsDev } from './catalogue/read-models-dev.ts';
export type { GatewayErrorCode } from './errors.ts';
export { createModelGateway } from './gateway.ts';
export type { ModelGateway, ModelGatewayOptions } from './gateway.ts';
export type { MediaPorts } from './media/media-ports.ts';
export type { ProviderListing } from './provider-list.ts';
export { ADAPTORS, PLATFORM_FIELDS } from './settings.ts';
export type { AdaptorId, ModelSettings, PlatformSettings, ProviderSettings } from './settings.ts';
