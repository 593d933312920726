// Every line here is a promise to users.
export { ArtifactStore, openArtifactStore } from './artifact-store.ts';
export type { ArtifactStoreOptions } from './artifact-store.ts';
export { formatArtifactUri, parseArtifactUri } from './artifact-uri.ts';
export type { BlobBackend, BlobEntry, BlobFile, BlobSource, BlobStat, ByteRange } from './blob-backend.ts';
export type { BlobFate, CollectedBlob, CollectionReport, CollectionRequest, Tally } from './collection.ts';
export type { ArtifactStoreErrorCode } from './errors.ts';
export { fileBackend } from './file-backend.ts';
export type { FileBackendOptions } from './file-backend.ts';
export { fileLocks } from './file-locks.ts';
export type { SharedFileLocks } from './file-locks.ts';
export type { LogListing } from './live-references.ts';
export { logFilesUnder } from './log-files.ts';
export { memoryBackend } from './memory-backend.ts';
