import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Writes a configuration with one provider, `local`, and returns its path. */
export async function localProvider(folder: string, baseUrl: string): Promise<string> {
  const path = join(folder, 'config.toml');
  await writeFile(
    path,
    [
      '[providers.local]',
      'adaptor = "openai-compatible"',
      `base_url = "${baseUrl}"`,
      'api_key = "none"',
      '',
    ].join('\n'),
  );
  return path;
}
