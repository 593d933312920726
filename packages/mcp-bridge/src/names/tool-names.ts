import { createHash } from 'node:crypto';

/** What every provider takes as a tool's name (MCP-3). */
const LONGEST_NAME = 64;
const HASH_DIGITS = 8;
const NUL = '\0';

/** A tool where it comes from. */
export interface ToolOrigin {
  readonly server: string;
  /** The name as its server knows it. */
  readonly tool: string;
}

export interface AssignedNames {
  readonly byName: ReadonlyMap<string, ToolOrigin>;
  /** Tools that got no name, with the reason; a server would have to aim at a hash to get one of its tools here. */
  readonly nameless: readonly (ToolOrigin & { readonly reason: string })[];
}

/** `<part>` of a name in the characters that every provider takes. */
export function sanitized(part: string): string {
  return part.replaceAll(/[^A-Za-z0-9_-]/gu, '_');
}

/**
 * The published names of tools (MCP-3): `<server>_<tool>`, cut and hashed beyond 64 characters, hashed on a collision
 * with one another or with a reserved name. The same tools get the same names, in whatever order they come.
 */
export function assignNames(origins: readonly ToolOrigin[], reserved: ReadonlySet<string>): AssignedNames {
  const distinct = [...new Map(origins.map((origin) => [keyOf(origin), origin])).values()];
  const wishes = Map.groupBy(distinct, wishOf);
  const byName = new Map<string, ToolOrigin>();
  const nameless: (ToolOrigin & { reason: string })[] = [];
  for (const [wish, sharers] of wishes) {
    const isFree = sharers.length === 1 && !reserved.has(wish);
    for (const origin of sharers) {
      const name = isFree ? wish : hashedName(origin);
      const isTaken = byName.has(name) || reserved.has(name) || (!isFree && wishes.has(name));
      if (isTaken) nameless.push({ ...origin, reason: `its name ${name} is taken` });
      else byName.set(name, origin);
    }
  }
  return { byName, nameless };
}

function plainName({ server, tool }: ToolOrigin): string {
  return `${sanitized(server)}_${sanitized(tool)}`;
}

function wishOf(origin: ToolOrigin): string {
  const plain = plainName(origin);
  return plain.length <= LONGEST_NAME ? plain : hashedName(origin);
}

function hashedName(origin: ToolOrigin): string {
  const hash = createHash('sha256').update(keyOf(origin)).digest('hex').slice(0, HASH_DIGITS);
  return `${plainName(origin).slice(0, LONGEST_NAME - HASH_DIGITS - 1)}_${hash}`;
}

function keyOf({ server, tool }: ToolOrigin): string {
  return `${server}${NUL}${tool}`;
}
