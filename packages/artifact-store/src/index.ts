// Every line here is a promise to users.
export { ArtifactStore, openArtifactStore } from './artifact-store.ts';
export type { ArtifactStoreOptions } from './artifact-store.ts';
export { formatArtifactUri, parseArtifactUri } from './artifact-uri.ts';
export type { ArtifactStoreErrorCode } from './errors.ts';
export { fileLocks } from './file-locks.ts';
export type { SharedFileLocks } from './file-locks.ts';
