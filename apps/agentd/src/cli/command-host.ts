import type { Screen } from './screen.ts';

/** What a command's definition needs: where to write, and where its exit code goes. */
export interface CommandHost {
  readonly screen: Screen;
  /** Wraps a command's work so that its result becomes the exit code. */
  readonly finish: (work: Promise<number>) => Promise<void>;
}

/** The help text's last part (CLI-1). */
export function exampleText(...examples: readonly string[]): string {
  const lines = examples.map((example) => `  $ ${example}`);
  return `\nExample${examples.length > 1 ? 's' : ''}:\n${lines.join('\n')}`;
}
