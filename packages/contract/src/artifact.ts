/** A parsed public artifact URI: `artifact://<digest>` or `artifact://<digest>/<stream>` (ART-3). */
export interface ArtifactAddress {
  /** 64 lowercase hex digits. */
  readonly digest: string;
  readonly stream: string | null;
}

/** What every public artifact URI starts with. Whoever sees it dispatches here and nowhere else (ART-5). */
export const ARTIFACT_SCHEME = 'artifact://';

export interface ArtifactPageRequest {
  readonly address: ArtifactAddress;
  /** Zero-based line. */
  readonly offset: number;
  /** Lines; more than 2,000 count as 2,000, 0 fails (ART-4). */
  readonly limit: number;
}

export interface ArtifactPage {
  /** Stored text as it is, line ends included. */
  readonly text: string;
  /** The line after the page, or null at the end. */
  readonly nextOffset: number | null;
}

/** Reads stored output by its public URI. `read` calls it, the artifact store implements it. */
export interface ArtifactReader {
  /** Contract: pure; throws a tool error `artifact_uri` that says what a right URI looks like (ART-6). */
  readonly parse: (uri: string) => ArtifactAddress;
  /**
   * Contract: throws tool errors only, besides the signal's reason: `artifact_missing`, `artifact_corrupt`, `artifact_uri`,
   * `resource_limit`, `invalid_arguments`, and `not_supported` for a blob that is no UTF-8 text (ART-16).
   */
  readonly page: (request: ArtifactPageRequest, signal: AbortSignal) => Promise<ArtifactPage>;
}
