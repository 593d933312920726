import { createHash } from 'node:crypto';

export interface PromptParts {
  /** The body of the agent document. */
  readonly agent: string;
  /** The session's working directory. */
  readonly cwd: string;
  /** What tool providers say, in the order of the providers. */
  readonly sections: readonly PromptSection[];
}

export interface PromptSection {
  readonly provider: string;
  readonly text: string;
}

/** The system prompt of a run, and its digest as `run_started` records it. */
export interface SystemPrompt {
  readonly text: string;
  /** 64 lowercase hex digits: SHA-256 of the whole text. */
  readonly sha256: string;
}

const SEPARATOR = '\n\n---\n\n';

const CWD_ADVICE = 'Relative paths of tool calls start in this directory.';

/** Puts the parts in their order: the agent, the working directory, one section a provider. Empty parts are left out. */
export function composePrompt({ agent, cwd, sections }: PromptParts): SystemPrompt {
  const parts = [
    agent.trim(),
    `<working_directory>${escapeXml(cwd)}</working_directory>\n${CWD_ADVICE}`,
    ...sections.filter(({ text }) => text.trim() !== '').map(sectionText),
  ];
  const text = parts.filter((part) => part !== '').join(SEPARATOR);
  return { text, sha256: createHash('sha256').update(text).digest('hex') };
}

function sectionText({ provider, text }: PromptSection): string {
  return `<tool_instructions provider="${escapeXml(provider)}">\n${text.trim()}\n</tool_instructions>`;
}

const XML_ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => XML_ESCAPES[character] ?? character);
}
