import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SAMPLES } from '../../../infra/local/self-check/samples.ts';
import { type Server, startServer } from './server.ts';

let server: Server;
beforeAll(async () => {
  server = await startServer({ command: onSmallDisk });
});
afterAll(() => server.close());

/** Starts a program with a data directory on a disk of 3 MB, which only that program sees. */
const onSmallDisk = (directory: string) => [
  'unshare',
  '--user',
  '--map-root-user',
  '--mount',
  'sh',
  '-c',
  'mkdir "$1" && mount -t tmpfs -o size=3m tmpfs "$1" && shift && exec "$@"',
  ...['sh', join(directory, 'data')],
];

/** The data directory as the server sees it. */
const dataOf = ({ pid, directory }: Server) => join(`/proc/${pid}/root`, directory, 'data');

function fill(file: string, left = 0): void {
  const block = Buffer.alloc(4096);
  for (let blocks = 0; ; blocks++) {
    try {
      writeFileSync(file, block, { flag: 'a' });
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'ENOSPC') throw thrown;
      execFileSync('truncate', ['--size', String(Math.max(0, blocks * 4096 - left)), file]);
      return;
    }
  }
}

/** Converts the sample picture to a PNG with sides of so many pixels. */
function convert(side: number): Promise<Response> {
  const sample = SAMPLES.find(({ tool }) => tool === 'imageproc')!;
  return server.ask({
    app: sample.tool,
    infile: 'sample:picture.png',
    outfile: 'a.png',
    '-resize': `${side}x${side}!`,
  });
}

describe('a disk that is full', () => {
  it('rejects conversions, loses nothing, and serves again once there is space', async () => {
    const data = dataOf(server);
    expect((await convert(10)).status).toBe(200);
    const before = readdirSync(join(data, 'results')).length;

    fill(join(data, 'fill'));
    const full = await convert(20);
    const usage = await fetch(`${server.base}/api/usage?apikey=the-operators-own-key`);
    const health = await fetch(`${server.base}/api/health`);
    rmSync(join(data, 'fill'));
    const after = await convert(20);

    expect([full.status, full.headers.get('x-error-code')]).toEqual([503, 'OVERLOADED']);
    expect([health.status, await health.json()]).toMatchObject([503, { machine: { disk: 'full' } }]);
    expect(server.log()).not.toContain('There is no space left to write the database');
    expect(usage.status).toBe(200);
    expect(server.log()).toMatch(/"event":"disk full".*free bytes/);
    expect(after.status).toBe(200);
    expect(readdirSync(join(data, 'results'))).toHaveLength(before + 1);
  });

  it('leaves no part of a result that did not fit', async () => {
    const data = dataOf(server);
    const before = readdirSync(join(data, 'results'));

    fill(join(data, 'fill'), 400_000);
    const tooLarge = await convert(1500);
    const small = await convert(10);

    expect([tooLarge.status, tooLarge.headers.get('x-error-code')]).toEqual([503, 'OVERLOADED']);
    await expect.poll(server.log).toMatch(/"event":"disk full".*ENOSPC/);
    expect(small.status).toBe(200);
    const added = readdirSync(join(data, 'results')).filter((name) => !before.includes(name));
    expect(added).toHaveLength(1);
    expect(added[0]).not.toContain('.part');
  });
});
