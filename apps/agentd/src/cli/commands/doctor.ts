import { EXIT } from '../../exit-codes.ts';
import { examine } from '../../doctor/examine.ts';
import type { DataOptions, PlaceOptions } from '../options.ts';
import { printable } from '../printable.ts';
import type { Screen } from '../screen.ts';

/** `doctor`: one line for each thing that must be right, and what to mend where it is not. */
export async function doctor(options: PlaceOptions & DataOptions, screen: Screen): Promise<number> {
  const findings = await examine(options);
  if (options.json === true) {
    screen.print(`${JSON.stringify(findings, null, 2)}\n`);
  } else {
    for (const { ok, subject, detail } of findings) {
      const mark = ok ? screen.style('green', 'ok     ') : screen.style('red', 'problem');
      screen.print(`${mark}  ${subject}: ${printable(detail)}\n`);
    }
  }
  return findings.every(({ ok }) => ok) ? EXIT.completed : EXIT.failed;
}
