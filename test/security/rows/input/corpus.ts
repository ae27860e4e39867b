import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LEAK_FILES } from '../../attacks/office/leaks.ts';
import type { Row } from '../../row.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const TARGET = { url: 'http://127.0.0.1:9/x', path: '/etc/passwd' };

/** Documents with external references, and the first half of each, as a folder for `npm run corpus`. */
export const corpus: Row = {
  name: 'corpus',
  title: 'a corpus of broken and hostile files',
  figures: 'hangs, orphaned processes, untyped errors',
  target: 'each a checked output or a typed error',
  async run({ progress, canary, deployment }) {
    const directory = await mkdtemp(join(tmpdir(), 'hostile-'));
    const leaks = LEAK_FILES.filter(({ extension }) => extension !== 'csv');
    let count = 0;
    const put = (name: string, bytes: Buffer) =>
      writeFile(join(directory, `${count++}-${name.replace(/[^\w.-]+/g, '-')}`), bytes);
    for (const { name, extension, bytes } of leaks) {
      const whole = await bytes(TARGET);
      await put(`${name}.${extension}`, whole);
      await put(`half-${name}.${extension}`, whole.subarray(0, whole.length / 2));
    }
    progress(0, count);
    const args = ['test/corpus/main.ts', directory, '--fresh', '--ledger', join(directory, 'ledger.jsonl')];
    const { code, text } = await deployment.withCommand(canary, (env) => run(args, env));
    await rm(directory, { recursive: true });
    // A document that contains only a blocked link is correctly blank.
    const misses = text
      .split('\n')
      .filter((line) => /^(MISS|ORPHAN) /.test(line) && !line.endsWith(': blank'));
    const broken = code > 1 || !/files +ok/.test(text) ? [`ended with ${code}: ${text.slice(-500)}`] : [];
    return { figure: `${count} files, ${misses.length} misses`, failures: [...misses, ...broken] };
  },
};

function run(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ code: number; text: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      args,
      { cwd: ROOT, maxBuffer: 1e8, env: { ...process.env, ...env } },
      (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, text: `${stderr}\n${stdout}` });
      },
    );
  });
}
