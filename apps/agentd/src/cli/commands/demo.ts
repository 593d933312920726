import type { Screen } from '../screen.ts';

export async function demo(_screen: Screen): Promise<number> {
  return 1;
}
