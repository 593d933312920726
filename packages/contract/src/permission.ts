/** What a rule of an agent document speaks of (PERM-1). */
export const PERMISSION_ACTIONS = [
  'read',
  'write',
  'bash',
  'webfetch',
  'delegate',
  'message',
  'mcp',
  'skill',
  'plugin',
] as const;

export type PermissionAction = (typeof PERMISSION_ACTIONS)[number];

export type PermissionEffect = 'allow' | 'ask' | 'deny';

/** One action on one resource, as a prepared call asks for it (PERM-10). */
export interface PermissionRequest {
  readonly action: PermissionAction;
  /** The resource label that rules match: a path, a URI, a command, … */
  readonly label: string;
}
