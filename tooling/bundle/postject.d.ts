declare module 'postject' {
  /** Writes `blob` into the executable at `path` as the resource `name`. */
  // oxlint-disable-next-line max-params -- the signature is postject's
  export function inject(
    path: string,
    name: string,
    blob: Uint8Array,
    options: { readonly sentinelFuse: string },
  ): Promise<void>;
}
