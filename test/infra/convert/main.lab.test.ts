import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signalAfter } from './signal-after.ts';

const MAIN = join(import.meta.dirname, '../../../infra/convert/main.ts');
const COUNT = 1000;

let directory: string;
beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'convert-'))));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const path = (...names: string[]) => join(directory, ...names);
const ledger = () => path('to/.docmill.jsonl');

/** Converts all inputs. Kills the command once its ledger has so many rows. */
async function convert(killAfter = Number.POSITIVE_INFINITY) {
  const args = [MAIN, 'from', '--to', 'to/', '--format', 'jpg'];
  const child = spawn(process.execPath, [...signalAfter(killAfter, ledger(), 'SIGKILL'), ...args], {
    cwd: directory,
    stdio: 'ignore',
  });
  return (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
}

/** Returns facts that change when a file is written again, by the names of the results in the ledger. */
function recorded(): Record<string, unknown> {
  const rows = readFileSync(ledger(), 'utf8').split('\n').slice(0, -1);
  return Object.fromEntries(
    rows
      .flatMap((row) => JSON.parse(row).outputs as string[])
      .map((name) => {
        const { ino, mtimeMs } = statSync(name);
        return [name, [ino, mtimeMs]];
      }),
  );
}

it('converts 1,000 files although it is killed three times, and loses and overwrites none', async () => {
  const inputs = Array.from({ length: COUNT }, (_, index) => index + 1);
  const sources = new Map<string, Buffer>();
  const create = { height: 1, channels: 3, background: 'red' } as const;
  for (const width of inputs)
    sources.set(
      `${width}.png`,
      await sharp({ create: { ...create, width } })
        .png()
        .toBuffer(),
    );
  mkdirSync(path('from'));
  for (const [name, bytes] of sources) writeFileSync(path('from', name), bytes);

  let before = {};
  for (const killAfter of [200, 450, 700]) {
    expect(await convert(killAfter)).toEqual([null, 'SIGKILL']);
    expect(recorded()).toMatchObject(before);
    before = recorded();
  }
  expect(await convert()).toEqual([0, null]);

  expect(recorded()).toMatchObject(before);
  const results = readdirSync(path('to')).filter((name) => !name.startsWith('.'));
  expect(results.sort()).toEqual(inputs.map((width) => `${width}.jpg`).sort());
  for (const width of inputs) {
    expect((await sharp(path('to', `${width}.jpg`)).metadata()).width).toBe(width);
    expect(readFileSync(path('from', `${width}.png`))).toEqual(sources.get(`${width}.png`));
  }
}, 1_800_000);
