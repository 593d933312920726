import { mkdir, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { Workbench } from './workbench.ts';

const CALL = ['tools', 'call', 'bash', '{"command":"echo stored"}', '--mode', 'yolo'];

/** The one project of the workbench, with an artifact of 1970 that nothing refers to. */
async function projectWithGarbage(bench: Workbench) {
  const [key = ''] = await readdir(join(bench.home, 'projects'));
  const folder = join(bench.home, 'projects', key);
  const path = join(folder, 'artifacts', createHash('sha256').update('garbage').digest('hex'));
  await writeFile(path, 'garbage');
  await utimes(path, 1, 1);
  return { key, folder, garbage: path };
}

const exists = async (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

it('artifacts gc removes what no session refers to and says what it kept and why [ART-9] [CLI-1] [field E1]', async () => {
  await using bench = await Workbench.create();
  await bench.run(CALL);
  const { key, folder, garbage } = await projectWithGarbage(bench);
  const dry = await bench.run(['artifacts', 'gc', '--dry-run', '--list']);
  expect(dry.code).toBe(0);
  expect(dry.stdout.startsWith(`${key}\n  would remove  1 artifacts  7 bytes`)).toBe(true);
  expect(dry.stdout).toMatch(/artifact:\/\/[0-9a-f]{64} +7 bytes +would remove: nothing refers to it\n/);
  const json = await bench.run(['artifacts', 'gc', '--json', '--cwd', '.']);
  expect(JSON.parse(json.stdout)).toEqual([
    {
      project: key,
      kind: 'collected',
      dry_run: false,
      removed: { count: 1, bytes: 7 },
      kept: {
        // stdout, the empty stderr, and the manifest that names them.
        referenced: { count: 3, bytes: expect.any(Number) as unknown },
        recent: { count: 0, bytes: 0 },
        undeletable: { count: 0, bytes: 0 },
      },
    },
  ]);
  expect(await exists(garbage)).toBe(false);
  // Without its session the output has only its hour of grace left.
  await rm(join(folder, 'sessions'), { recursive: true });
  const after = await bench.run(['artifacts', 'gc']);
  expect(after.stdout).toMatch(
    / {2}removed +0 artifacts +0 bytes .*\n {2}kept +3 artifacts .* for less than an hour\n$/,
  );
});

it('artifacts gc removes nothing and says why when a log cannot be read [ART-9]', async () => {
  await using bench = await Workbench.create();
  await bench.run(CALL);
  const { key, folder, garbage } = await projectWithGarbage(bench);
  const linked = join(folder, 'elsewhere');
  await mkdir(linked);
  await symlink(linked, join(folder, 'sessions', 'linked'));
  const { code, stderr } = await bench.run(['artifacts', 'gc']);
  expect(code).toBe(1);
  expect(stderr).toBe(
    `${key}: nothing was removed: ${join(folder, 'sessions', 'linked')} is a link to a folder, which is not followed\n`,
  );
  expect(await exists(garbage)).toBe(true);
});

it('artifacts gc of a home without projects says so', async () => {
  await using bench = await Workbench.create();
  expect(await bench.run(['artifacts', 'gc'])).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'no projects yet\n',
  });
});

it.each([
  ['a run', async (bench: Workbench) => bench.run(['run', 'go', ...(await bench.script('- say: done'))])],
  ['a call by hand', (bench: Workbench) => bench.run(CALL)],
])('%s that has ended removes what no session refers to [ART-9]', async (_, act) => {
  await using bench = await Workbench.create();
  await bench.run(CALL);
  const { garbage } = await projectWithGarbage(bench);
  expect(await act(bench)).toMatchObject({ code: 0 });
  expect(await exists(garbage)).toBe(false);
});

it('artifacts show takes a whole copy of another project where one is damaged [ART-2]', async () => {
  await using bench = await Workbench.create();
  await bench.run(CALL);
  await bench.run([...CALL, '--cwd', bench.home]);
  const digest = createHash('sha256').update('stored\n').digest('hex');
  const keys = (await readdir(join(bench.home, 'projects'))).toSorted();
  const copies = keys.map((key) => join(bench.home, 'projects', key, 'artifacts', digest));
  expect(copies).toHaveLength(2);
  for (const [damaged = '', whole = ''] of [copies, copies.toReversed()]) {
    await writeFile(damaged, 'stOred\n');
    await writeFile(whole, 'stored\n');
    expect(await bench.run(['artifacts', 'show', `artifact://${digest}`])).toMatchObject({
      code: 0,
      stdout: 'stored\n',
    });
  }
  for (const copy of copies) await writeFile(copy, 'stOred\n');
  const { code, stderr } = await bench.run(['artifacts', 'show', `artifact://${digest}`]);
  expect(code).toBe(1);
  expect(stderr).toContain('cannot be trusted: its content is not that of its digest');
});

it('artifacts show says what is wrong with an address where nothing is stored at all [ART-6]', async () => {
  await using bench = await Workbench.create();
  const { code, stderr } = await bench.run(['artifacts', 'show', 'artifact://ABC']);
  expect(code).toBe(1);
  expect(stderr).toContain('the digest must be 64 lowercase hex digits');
});
