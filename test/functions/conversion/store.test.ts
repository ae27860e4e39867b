import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { storeOutputs } from '../../../functions/conversion/store.ts';
import type { StoredFile } from '../../../functions/platform/storage.ts';
import { readOutputName } from '../../../functions/shared/output-name.ts';
import { CONVERSION_LIMITS, type Output } from '../../../functions/shared/tool.ts';
import { unzip } from '../../helpers/zip.ts';

const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

let directory: string;
let stored: Array<StoredFile & { content: Buffer }>;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'deliver-'));
  stored = [];
});

afterEach(() => rm(directory, { recursive: true, force: true }));

async function file(content: Buffer = Buffer.concat([PNG, randomBytes(100)])): Promise<string> {
  const path = join(directory, randomBytes(8).toString('hex'));
  await writeFile(path, content);
  return path;
}

function run(
  outfile: string,
  outputs: Iterable<Output> | AsyncIterable<Output>,
  { limits = CONVERSION_LIMITS, signal = new AbortController().signal } = {},
) {
  return storeOutputs({
    outputs,
    ...readOutputName(outfile),
    directory,
    limits,
    grant: { prefix: 'p/' },
    put: async (_grant, each) => {
      stored.push({ ...each, content: await readFile(each.path) });
      return `p/${each.name}`;
    },
    signal,
  });
}

/** Yields pages and deletes each when the next is requested, as the contract of a tool allows. */
async function* fleeting(count: number) {
  for (let page = 1; page <= count; page++) {
    const path = await file(Buffer.concat([PNG, Buffer.alloc(300_000, page)]));
    yield { path, page };
    await rm(path);
  }
}

describe('one file', () => {
  it('is stored under its name, with its type and size', async () => {
    const path = await file();

    const objectKeys = await run('a b.png', [{ path }]);

    expect(objectKeys).toEqual(['p/a b.png']);
    expect(stored).toMatchObject([{ path, name: 'a b.png', contentType: 'image/png', bytes: 108 }]);
  });
});

describe('one file per page', () => {
  it('is named by the page numbers from the tool, in order', async () => {
    const outputs = [
      { path: await file(), page: 9 },
      { path: await file(), page: 10 },
    ];

    expect(await run('p-%02d.png', outputs)).toEqual(['p/p-09.png', 'p/p-10.png']);
  });

  it('is numbered from 1 if the tool gives no page numbers', async () => {
    expect(await run('%d.png', [{ path: await file() }, { path: await file() }])).toEqual([
      'p/1.png',
      'p/2.png',
    ]);
  });

  it('is stored before the next page is requested', async () => {
    expect(await run('%d.png', fleeting(3))).toHaveLength(3);
    expect(stored.map(({ content }) => content.at(-1))).toEqual([1, 2, 3]);
  });
});

describe('an archive', () => {
  it('contains one file per page and can be read by another library', async () => {
    const objectKeys = await run('all.png.zip', fleeting(12));

    expect(objectKeys).toEqual(['p/all.png.zip']);
    expect(stored).toMatchObject([{ name: 'all.png.zip', contentType: 'application/zip' }]);
    expect(await unzipped(stored[0]!.content)).toEqual(
      Array.from({ length: 12 }, (_, index) => [`all-${index + 1}.png`, 300_008, index + 1]),
    );
  });

  it('contains large pages, without holding up other work', async () => {
    const large = randomBytes(60_000_000);
    PNG.copy(large);
    const path = await file(large);
    const outputs = async function* () {
      yield { path };
      await rm(path);
      yield { path: await file() };
    };
    let [turns, isDone] = [0, false];
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    count();
    await run('all.png.zip', outputs());
    isDone = true;

    const [first, second] = await unzip(stored[0]!.content);
    expect(first!.content.equals(large)).toBe(true);
    expect(second).toMatchObject({ name: 'all-2.png' });
    // Others get a turn after each megabyte.
    expect(turns).toBeGreaterThan(60);
  });

  it('keeps the pattern of its name', async () => {
    await run('p%03d.png.zip', [{ path: await file(), page: 7 }]);

    expect((await unzipped(stored[0]!.content)).map(([name]) => name)).toEqual(['p007.png']);
  });

  it('is not stored if a page fails, and leaves nothing running', async () => {
    const broken = async function* () {
      yield* fleeting(1);
      throw new Error('page 2 is broken');
    };

    await expect(run('all.png.zip', broken())).rejects.toThrow('page 2 is broken');
    expect(stored).toEqual([]);
  });

  it('is not stored when the conversion is aborted', async () => {
    const stop = new AbortController();
    const aborted = async function* () {
      yield* fleeting(1);
      stop.abort(new Error('told to'));
      yield* fleeting(1);
    };

    await expect(run('all.png.zip', aborted(), { signal: stop.signal })).rejects.toThrow();
    expect(stored).toEqual([]);
  });
});

async function made(make: (path: string) => Promise<unknown>): Promise<string> {
  const path = join(directory, randomBytes(8).toString('hex'));
  await make(path);
  return path;
}

/** An image outside of the conversion's directory. */
async function elsewhere(): Promise<string> {
  const other = join(directory, 'other');
  await mkdir(other, { recursive: true });
  await writeFile(join(other, 'image'), PNG);
  return join(other, 'image');
}

describe('an invalid output', () => {
  it.each<[string, () => Promise<string>]>([
    ['a missing file', async () => join(directory, 'none')],
    ['an empty file', () => file(Buffer.alloc(0))],
    ['another format', () => file(Buffer.from('%PDF-1.7'))],
    ['the directory', async () => directory],
    ['a directory', () => made((path) => mkdir(path))],
    ['a pipe that nobody writes to', () => made(async (path) => execFileSync('mkfifo', [path]))],
    ['a link to an image elsewhere', () => made(async (path) => symlink(await elsewhere(), path))],
    ['an image elsewhere', () => elsewhere()],
    ['what waits for us', async () => '/proc/self/fd/0'],
  ])('is rejected: %s', async (_, make) => {
    for (const name of ['a.png', '%d.png', 'a.png.zip']) {
      await expect(run(name, [{ path: await make() }])).rejects.toMatchObject({ code: 'CONVERSION_FAILED' });
    }
    expect(stored).toEqual([]);
  });

  it.each(['a.png', '%d.png', 'a.png.zip'])('is rejected if the tool produced nothing: %s', async (name) => {
    await expect(run(name, [])).rejects.toMatchObject({ code: 'CONVERSION_FAILED' });
  });
});

describe('the limits of a result', () => {
  it('include the total bytes of all files', async () => {
    const limits = { ...CONVERSION_LIMITS, resultBytes: 700_000 };

    expect(await run('%d.png', fleeting(2), { limits })).toHaveLength(2);
    for (const name of ['%d.png', 'a.png.zip']) {
      await expect(run(name, fleeting(3), { limits })).rejects.toMatchObject({ code: 'RESULT_TOO_LARGE' });
    }
  });

  it('include the number of files', async () => {
    const limits = { ...CONVERSION_LIMITS, files: 2 };

    expect(await run('%d.png', fleeting(2), { limits })).toHaveLength(2);
    await expect(run('a.png.zip', fleeting(3), { limits })).rejects.toThrow(
      'The result has more than 2 files. Select fewer pages.',
    );
  });

  it('stop a tool that never ends', async () => {
    let ended = false;
    const endless = async function* () {
      try {
        yield* fleeting(Number.POSITIVE_INFINITY);
      } finally {
        ended = true;
      }
    };

    await expect(run('%d.png', endless(), { limits: { ...CONVERSION_LIMITS, files: 5 } })).rejects.toThrow(
      'more than 5 files',
    );
    expect(ended).toBe(true);
    expect((await stat(directory)).isDirectory()).toBe(true);
  });
});

/** Name, size and last byte of each file. */
async function unzipped(archive: Buffer): Promise<Array<[string, number, number | undefined]>> {
  return (await unzip(archive)).map(({ name, content }) => [name, content.length, content.at(-1)]);
}
