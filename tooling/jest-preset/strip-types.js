import { createHash } from 'node:crypto';
import { stripTypeScriptTypes } from 'node:module';

/** A Jest transformer: types become blanks, so positions stay exact and no source map is needed. */
export default {
  canInstrument: false,
  process: (source) => ({ code: stripTypeScriptTypes(source, { mode: 'strip' }) }),
  getCacheKey: (source, path) =>
    createHash('sha256').update(['strip-1', process.version, path, source].join('\0')).digest('hex'),
};
