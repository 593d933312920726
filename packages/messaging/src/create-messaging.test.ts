import { describe, expect, it } from '@jest/globals';
import { createMessaging } from './create-messaging.ts';
import { DEFAULT_MESSAGING_SETTINGS } from './settings.ts';
import { memoryTree } from './testing/memory-tree.ts';

function setup() {
  const tree = memoryTree();
  const root = tree.add({ agent: 'lead' });
  const child = tree.add({ agent: 'explore', parent: root });
  const session = (id: string) => ({ id, cwd: '/', agent: 'a' });
  return { tree, root, child, session, provider: createMessaging(tree.ports) };
}

describe('messaging for an engine', () => {
  it('brings send_message, published by the action message alone [MSG-4]', async () => {
    const { provider, root, session } = setup();
    const tools = await provider.tools(session(root.sessionId));
    expect(tools.map(({ spec }) => [spec.name, spec.action, spec.origin])).toEqual([
      ['send_message', 'message', 'builtin'],
    ]);
    expect(provider.id).toBe('builtin.messaging');
  });

  it('tells a child its own handle and its parent’s where the rules reach the parent [MSG-9]', async () => {
    const { tree, provider, root, child, session } = setup();
    const section = await provider.promptSection?.(session(child.sessionId));
    expect(section).toContain(`Your handle is ${child.handle}.`);
    expect(section).toContain(`send_message with to "${root.handle}"`);
    tree.reach(['child', 'sibling', '*']);
    expect(await provider.promptSection?.(session(child.sessionId))).toBe(null);
  });

  it('tells a root nothing, nor anybody while messaging is off [MSG-9]', async () => {
    const { tree, provider, root, child, session } = setup();
    expect(await provider.promptSection?.(session(root.sessionId))).toBe(null);
    const off = createMessaging(tree.ports, { ...DEFAULT_MESSAGING_SETTINGS, enabled: false });
    expect(await off.promptSection?.(session(child.sessionId))).toBe(null);
  });
});
