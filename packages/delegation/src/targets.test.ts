import { describe, expect, it } from '@jest/globals';
import { AGENTS, delegate, rootAtWork, running, world } from './test/world.ts';

const NAMES = ['delegate_subagent', 'get_subagent_result', 'cancel_subagent'];

async function offered({ delegation, host }: ReturnType<typeof world>, id: string) {
  const session = { id, cwd: '/', agent: (await host.find(id))?.agent ?? '' };
  const tools = await delegation.tools(session);
  const [first] = tools;
  const targets = JSON.stringify(first?.spec.parameters['properties']);
  return {
    names: tools.map(({ spec }) => spec.name),
    targets: /"agent_type":\{[^}]*"enum":\[([^\]]*)\]/.exec(targets ?? '')?.[1] ?? null,
    section: await delegation.promptSection(session),
  };
}

describe('who may be started', () => {
  it('is every agent that serves as a subagent, in the tool and in the prompt alike [DLG-1] [DLG-2]', async () => {
    const all = world();
    const root = await rootAtWork(all.host);
    expect(await offered(all, root.sessionId)).toEqual({
      names: NAMES,
      targets: '"build","explore"',
      section:
        'delegate_subagent starts these agents (agent_type: what it is for):\n- build: Writes code.\n- explore: Reads code.',
    });
    expect(all.delegation.id).toBe('builtin.delegate');
  });

  it('leaves out what the rules deny, and keeps what they ask about [DLG-1] [DLG-2]', async () => {
    const some = world({
      ports: { rules: { verdict: (_session, id) => (id === 'build' ? 'deny' : 'ask') } },
    });
    const root = await rootAtWork(some.host);
    const { targets, section } = await offered(some, root.sessionId);
    expect(targets).toBe('"explore"');
    expect(section).not.toContain('build');
  });

  it('is nobody at the depth limit, without targets, and for a session that is not known [DLG-1] [DLG-2] [DLG-9]', async () => {
    const nothing = { names: [], targets: null, section: null };
    const flat = world({ settings: { maxDepth: 1 } });
    const root = await rootAtWork(flat.host);
    const { child } = await delegate(flat.host, root, { background: true });
    expect(await offered(flat, child.sessionId)).toEqual(nothing);
    const none = world({ ports: { agents: { list: async () => AGENTS.slice(0, 1) } } });
    expect(await offered(none, (await none.host.addRoot('lead')).sessionId)).toEqual(nothing);
    expect(await offered(none, '00000000-0000-4000-8000-00000000dead')).toEqual(nothing);
  });

  it('still lets a session look after the children that it has when it may start no more [DLG-1]', async () => {
    const rules = { verdict: (): 'allow' | 'deny' => (rules.open ? 'allow' : 'deny'), open: true };
    const closing = world({ ports: { rules } });
    const root = await rootAtWork(closing.host);
    const { child } = await delegate(closing.host, root, { background: true });
    await running(closing.host, child);
    rules.open = false;
    expect((await offered(closing, root.sessionId)).names).toEqual(NAMES.slice(1));
  });
});
