/**
 * A tool's name as every provider and every client of one takes it; a model may call what never existed. What objects
 * inherit (`constructor`, `__proto__`) gets an underscore: clients look names up in plain objects and would then send
 * no name at all, and a request that a provider refuses stays refused for as long as the call is history.
 */
export function wireToolName(name: string): string {
  const valid = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unnamed_tool';
  return valid in Object.prototype ? `${valid}_` : valid;
}
