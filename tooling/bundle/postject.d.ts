declare module 'postject' {
  // oxlint-disable-next-line max-params -- the signature is postject's
  /** Writes `blob` into the executable at `path` as the resource `name`. */
  export function inject(
    path: string,
    name: string,
    blob: Uint8Array,
    options: { readonly sentinelFuse: string },
  ): Promise<void>;
}
