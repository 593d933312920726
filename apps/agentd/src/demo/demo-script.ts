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

/** What the embedded model says and calls, turn by turn. Everything else is the real engine (SCR-1). */
export function demoScript({ scratch, forbidden }: DemoPaths): string {
  const note = JSON.stringify(`${scratch}/plan.md`);
  return `agents:
  default:
    - say: I look around first. Reading is allowed in this folder.
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
    - say: "Done. One of ${FLOOD.lines} measurements failed, number ${FLOOD.oddLine}; it was in the part that no preview showed."
      delay_ms: 500
`;
}
