import { z } from 'zod';
import {
  defineTool,
  type AttachedFile,
  type ModelClient,
  type ModelMessage,
  type ModelRequest,
  type ModelStreamPart,
  type ModelUsage,
  type Tool,
  type ToolResultPart,
} from '@agentd/contract';
import { sequenceModel, turnParts } from '@agentd/contract/testing';
import { engineHarness, type HarnessInit } from '../../testing/engine-harness.ts';
import { SUMMARY_AGENT } from '../summary-request.ts';

type Parts = readonly ModelStreamPart[];
/** Gives the parts of an answer, or throws. */
export type Answer = (request: ModelRequest, count: number, signal: AbortSignal) => Parts | Promise<Parts>;

export interface PressureInit extends HarnessInit {
  /** Answers to requests for a turn, counted from 0. */
  readonly answer: Answer;
  /** Answers to requests for a summary, counted from 0. */
  readonly summary?: Answer;
}

/** An engine whose model has a context of 20,000 tokens, of which 2,000 are for output: room is made past 12,600. */
export function pressureHarness({ answer, summary = writes('SUMMARY'), info, ...init }: PressureInit) {
  const turns: ModelRequest[] = [];
  const summaries: ModelRequest[] = [];
  const client: ModelClient = {
    info: sequenceModel([], { id: 'test/a', contextTokens: 20_000, outputTokens: 2000, ...info }).info,
    stream: async function* (request, signal) {
      const isSummary = request.session.agent === SUMMARY_AGENT;
      const kept = isSummary ? summaries : turns;
      kept.push(structuredClone(request));
      signal.throwIfAborted();
      yield* await (isSummary ? summary : answer)(request, kept.length - 1, signal);
    },
  };
  const harness = engineHarness({ ...init, models: { 'test/a': client, ...init.models } });
  return { ...harness, turns, summaries };
}

/** A text of so many bytes in lines, each of which says whose it is. */
export function bulk(label: string, bytes: number): string {
  const line = `${label} says something that is not short\n`;
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes);
}

export const writes = (text: string, usage?: Partial<ModelUsage>): Answer => {
  const parts = turnParts(text);
  return () => (usage === undefined ? parts : withUsage(parts, usage));
};

export function withUsage(parts: Parts, usage: Partial<ModelUsage>): Parts {
  return parts.map((part) =>
    part.type === 'finish' ? { ...part, usage: { ...part.usage, ...usage } } : part,
  );
}

export interface Print {
  readonly label: string;
  readonly bytes: number;
}

/** Calls a tool once a turn for so many turns, then says `done`. */
export function callsFor(count: number, tool: string, args: (turn: number) => object): Answer {
  return (_request, turn) =>
    turn < count
      ? turnParts(`Turn ${turn}.`, [{ id: `c${turn}`, tool, args: args(turn) }])
      : turnParts('done');
}

/** Prints `bulk`; its output is kept by the store. */
export const printTool: Tool = defineTool({
  name: 'print',
  description: 'Prints.',
  action: 'read',
  schema: z.strictObject({ label: z.string(), bytes: z.int() }),
  prepare: async ({ label, bytes }) => ({
    permission: { action: 'read', label: `print ${label}` },
    operation: label,
    execute: async () => ({ output: { kind: 'single', text: bulk(label, bytes) } }),
  }),
});

export interface Shelf {
  readonly files: Map<string, string>;
  readonly reads: string[];
  readonly attachments: Map<string, readonly AttachedFile[]>;
  readonly tool: Tool;
}

/** A tool that pages itself, as `read` does: nothing of its output is kept. */
export function shelf(files: Readonly<Record<string, string>> = {}, name = 'open'): Shelf {
  const stored = new Map(Object.entries(files));
  const attachments = new Map<string, readonly AttachedFile[]>();
  const reads: string[] = [];
  const tool = defineTool({
    name,
    description: 'Opens.',
    action: 'read',
    truncation: 'opt_out',
    schema: z.strictObject({ path: z.string() }),
    prepare: async ({ path }) => ({
      permission: { action: 'read', label: path },
      operation: path,
      execute: async () => {
        reads.push(path);
        return {
          output: { kind: 'single', text: stored.get(path) ?? '' },
          metadata: { kind: attachments.has(path) ? 'attachment' : 'text' },
          attachments: attachments.get(path) ?? [],
        };
      },
    }),
  });
  return { files: stored, reads, attachments, tool };
}

/** Prints so many bytes in each of so many turns. */
export const prints = (count: number, bytes: number): Answer =>
  callsFor(count, 'print', (turn) => ({ label: `label-${turn}`, bytes }));

/** The results in a request. */
export function resultsOf({ messages }: ModelRequest): readonly ToolResultPart[] {
  return messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
}

/** What a user's message says; empty for any other. */
export function textsOf(message: ModelMessage | undefined): string {
  return message?.role === 'user' ? message.content.map(({ text }) => text).join('\n') : '';
}
