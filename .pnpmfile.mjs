// The node-<platform> packages write "os" and "cpu" as strings; pnpm honours only lists, and would
// otherwise install the Node of every platform.
const list = (value) => (value === undefined ? undefined : [].concat(value));

export const hooks = {
  readPackage(manifest) {
    if (/^node-(linux|darwin|win)-/.test(manifest.name ?? '')) {
      manifest.os = list(manifest.os);
      manifest.cpu = list(manifest.cpu);
    }
    return manifest;
  },
};
