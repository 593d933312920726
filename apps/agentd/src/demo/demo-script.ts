/** What the script needs to know of the stage; all paths are absolute. */
export interface DemoPaths {
  /** A folder in which everything may be written. */
  readonly scratch: string;
  /** A file that nobody may write. */
  readonly forbidden: string;
}

/** How many lines the long command prints, and which of them is unlike the others. */
export const FLOOD = { lines: 20_000, oddLine: 12_345 } as const;

/** What the scratch file must hold at the end. */
export const EXPECTED_NOTE = '# Plan\n\n- [x] look around\n- [ ] write tests\n';

/** The result that comes by itself. */
export const COUNTED = 'I have counted what is here.';

/** What the subagents say to each other; the checks look for it. */
export const LETTERS = {
  question: 'What is it about?',
  answer: 'It is about agents that lose nothing.',
} as const;

/** Agents that the demo starts, as their documents (CFG-7). */
export const DEMO_AGENTS: Readonly<Record<string, string>> = {
  explore: `---
description: Reads what is there and answers questions about it.
mode: subagent
permissions: { read: allow }
---
You explore.
`,
  count: `---
description: Counts things.
mode: subagent
permissions: { bash: allow }
---
You count.
`,
};

/**
 * What the embedded model says and calls, turn by turn. Everything else is the real engine (SCR-1). `handle` is the
 * root's own.
 */
export function demoScript(paths: DemoPaths, handle: string): string {
  return `agents:\n  default:\n${alone(paths)}${together()}${subagents(handle)}`;
}

/** What one session does by itself. */
function alone({ scratch, forbidden }: DemoPaths): string {
  const note = JSON.stringify(`${scratch}/plan.md`);
  return `    - say: I look around first. Reading is allowed in this folder.
      calls:
        - { tool: read, args: { filePath: "." }, as: listing }
        - { tool: read, args: { filePath: "README.md", limit: 6 } }
      delay_ms: 500
    - say: Two commands in one turn run side by side. Each takes 1.5 s; both are done after 1.5 s.
      calls:
        - { tool: bash, args: { command: 'for i in 1 2 3; do echo "left $i of 3"; sleep 0.5; done' }, as: left }
        - { tool: bash, args: { command: 'for i in 1 2 3; do echo "right $i of 3"; sleep 0.5; done' }, as: right }
      delay_ms: 700
    - say: I write a file into a scratch folder. It is staged, checked and published in one step.
      calls:
        - { tool: write, args: { filePath: ${note}, content: "# Plan\\n\\n- [ ] look around\\n- [ ] write tests\\n" } }
      delay_ms: 700
    - say: And I change one line of it.
      calls:
        - { tool: edit, args: { filePath: ${note}, oldString: "- [ ] look around", newString: "- [x] look around" } }
      delay_ms: 500
    - say: This file lies outside the scratch folder, and a rule denies it. The run goes on.
      calls:
        - { tool: write, args: { filePath: ${JSON.stringify(forbidden)}, content: "no" } }
      delay_ms: 500
    - say: Now a command that prints ${FLOOD.lines} lines. All of it is stored; I get the head, the tail and a hint.
      calls:
        - { tool: bash, args: { command: "seq 1 ${FLOOD.lines} | sed 's/.*/measurement &: ok/; ${FLOOD.oddLine}s/ok/FAILED/'" }, as: flood }
      delay_ms: 700
    - say: I follow the hint to the first line that I have not seen, and look into the middle.
      calls:
        - { tool: read, args: { filePath: "{{ flood.text | uri }}", offset: "{{ flood.retained_output.streams.0.next_offset }}", limit: 3 } }
        - { tool: read, args: { filePath: "{{ flood.text | uri }}", offset: ${FLOOD.oddLine - 2}, limit: 3 }, as: middle }
      delay_ms: 700
`;
}

/** What it does with others. */
function together(): string {
  return `    - say: "One of ${FLOOD.lines} measurements failed, number ${FLOOD.oddLine}; no preview showed it. Now two subagents: I wait for one, the other works in the background."
      calls:
        - { tool: delegate_subagent, args: { description: Look at the README, prompt: Read the first lines of README.md., agent_type: explore }, as: scout }
        - { tool: delegate_subagent, args: { description: Count the files, prompt: How many entries does this folder have?, agent_type: count, background: true } }
      delay_ms: 700
    - say: The first one has finished. A message wakes it, and it will answer me in the same way.
      calls:
        - { tool: send_message, args: { to: "{{ scout.metadata.handle }}", body: "${LETTERS.question}" } }
      delay_ms: 500
    - say: That was all I had to do; what is still to come will wake me.
      delay_ms: 500
    - say: "I have read: {{ input }}"
    - say: "I have read: {{ input }}"
    - say: "I have read: {{ input }}"
`;
}

function subagents(handle: string): string {
  return `  explore:
    - calls:
        - { tool: read, args: { filePath: README.md, limit: 3 }, as: top }
      delay_ms: 500
    - say: "I have read the first lines of it."
    - say: Somebody asks; I answer.
      calls:
        - { tool: send_message, args: { to: ${handle}, body: "${LETTERS.answer}" } }
    - say: Answered.
  count:
    - calls:
        - { tool: bash, args: { command: "ls | wc -l" } }
      delay_ms: 1500
    - say: ${COUNTED}
`;
}
