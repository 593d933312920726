/** A promise that the test settles by hand. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: unknown) => void;
}

export function deferred<Value = void>(): Deferred<Value> {
  return Promise.withResolvers<Value>();
}

/** Lets everything that is ready to run do so: microtasks, then one turn of the event loop. */
export async function flush(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}
