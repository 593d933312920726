const MODEL_ID = /^[^/\s]+\/\S+$/;
const SCRIPT = /^scripted:./;

/** Whether `value` names a model as users write it: `provider/model`, or `scripted:FILE.yaml` (CFG-4). */
export function isModelId(value: unknown): value is string {
  return typeof value === 'string' && (MODEL_ID.test(value) || SCRIPT.test(value));
}
