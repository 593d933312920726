// Every line here is a promise to users.
export { clientRunIdOf } from './crew.ts';
export { createDelegation } from './create-delegation.ts';
export type { Delegation } from './create-delegation.ts';
export type { DelegationEnd, DelegationPhase, DelegationRecord } from './delegation-record.ts';
export { delegationEventSchemas } from './events.ts';
export type { DelegationEvent, DelegationEventOf, DelegationEventType } from './events.ts';
export { DelegationLedger } from './ledger.ts';
export type { LedgerFault } from './ledger.ts';
export type { AgentCatalogue, AgentListing, DelegationPorts, DelegationRules } from './ports.ts';
export { DEFAULT_DELEGATION_SETTINGS } from './settings.ts';
export type { DelegationSettings } from './settings.ts';
