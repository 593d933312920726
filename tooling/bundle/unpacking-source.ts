/** A file that the binary carries. */
export interface Carried {
  /** Its name inside the binary. */
  readonly asset: string;
  /** SHA-256 of its content, in hex. */
  readonly digest: string;
  /** Where it goes, below a folder that is named after the digest. */
  readonly path: string;
}

const UNPACKING = `
const { getRawAsset } = require('node:sea');
const fs = require('node:fs');
const { createHash, randomUUID } = require('node:crypto');
const { dirname, join } = require('node:path');
const { homedir, tmpdir } = require('node:os');

const isIntact = (path) => {
  try {
    return createHash('sha256').update(fs.readFileSync(path)).digest('hex') === digest;
  } catch {
    return false;
  }
};
// Node's own recursive mkdir never returns below /proc.
const makeFolders = (path) => {
  try {
    fs.mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (error.code === 'EEXIST') return;
    if (error.code !== 'ENOENT' || dirname(path) === path) throw error;
    makeFolders(dirname(path));
    fs.mkdirSync(path, { mode: 0o700 });
  }
};
const unpackInto = (base) => {
  const path = join(base, place);
  if (isIntact(path)) return base;
  makeFolders(dirname(path));
  const draft = path + '.' + randomUUID();
  try {
    fs.writeFileSync(draft, Buffer.from(getRawAsset(asset)), { mode: 0o500, flag: 'wx' });
    fs.renameSync(draft, path);
  } finally {
    fs.rmSync(draft, { force: true });
  }
  return base;
};
const inCache = () => unpackInto(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'agentd', 'native', digest));
const inPrivate = () => {
  const base = fs.mkdtempSync(join(tmpdir(), 'agentd-native-'));
  process.once('exit', () => fs.rmSync(base, { recursive: true, force: true }));
  return unpackInto(base);
};
let folder;
try {
  folder = inCache();
} catch {
  folder = inPrivate();
}
const file = join(folder, place);
`;

/**
 * JavaScript that unpacks an addon and leaves `folder` and `file` behind. An addon cannot be loaded from inside the
 * binary, so it is written once to the user's cache; a copy that is not intact is replaced, two processes at once do
 * no harm. Where the cache cannot be written, a private folder serves until the process exits.
 */
export function unpackingSource({ asset, digest, path }: Carried): string {
  const names = Object.entries({ asset, digest, place: path });
  return names.map(([name, value]) => `const ${name} = ${JSON.stringify(value)};`).join('\n') + UNPACKING;
}
