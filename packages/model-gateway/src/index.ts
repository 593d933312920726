// Every line here is a promise to users.
export type { GatewayErrorCode } from './errors.ts';
export { createModelGateway } from './gateway.ts';
export type { ModelGateway, ModelGatewayOptions } from './gateway.ts';
export type { ProviderListing } from './provider-list.ts';
export { ADAPTORS } from './settings.ts';
export type { AdaptorId, ModelSettings, ProviderSettings } from './settings.ts';
