import type { ToolListCache } from '../ports.ts';

/** A cache of tool lists without a disk, by server name. */
export function memoryToolLists(
  kept: Map<string, readonly unknown[]> = new Map(),
): ToolListCache & { readonly kept: ReadonlyMap<string, readonly unknown[]> } {
  return {
    kept,
    read: async ({ name }) => kept.get(name) ?? null,
    write: async ({ name }, tools) => void kept.set(name, tools),
  };
}
