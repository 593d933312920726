/** `1 call`, `2 calls`; the plural is the singular with an s unless it is given. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
