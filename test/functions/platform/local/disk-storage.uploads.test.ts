import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDiskStorage } from '../../../../functions/platform/local/disk-storage.ts';
import { createUploadId, uploadKeyOf } from '../../../../functions/platform/storage.ts';
import { isUploadId } from '../../../../functions/shared/options/option.ts';
import { openTable } from '../../../helpers/open-table.ts';

const HOUR = 3_600_000;
const signal = new AbortController().signal;
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'uploads-'));
});
afterEach(() => rm(root, { recursive: true }));

function open(accountBytes = 0) {
  const directory = join(root, 'results');
  const disk = createDiskStorage({
    directory,
    secret: randomBytes(32),
    urlLifetime: 60,
    accountBytes,
    table: openTable(root),
  });
  const receive = async (content: Readable, { account = 'one', maxBytes = 1000, stop = signal } = {}) => {
    const objectKey = uploadKeyOf(account, createUploadId('a.png'));
    await disk.receive({ objectKey, account, maxBytes, content }, stop);
    return objectKey;
  };
  return { disk, receive, files: () => readdir(directory).catch(() => []), directory };
}

const of = (...chunks: readonly string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));

describe('an upload', () => {
  it('that cannot be stored does not count towards the storage of its account', async () => {
    const { disk, directory } = open(15_000);
    const objectKey = uploadKeyOf('one', createUploadId('a.png'));
    async function* blockPlace() {
      yield Buffer.alloc(10_000);
      const [part] = await readdir(directory);
      await mkdir(join(directory, part!.replace(/\.part$/, ''), 'file'), { recursive: true });
    }
    const upload = { objectKey, account: 'one', maxBytes: 10_000, content: Readable.from(blockPlace()) };

    await expect(disk.receive(upload, signal)).rejects.toThrow(/EISDIR/);

    const next = {
      ...upload,
      objectKey: uploadKeyOf('one', createUploadId('b.png')),
      content: Readable.from([Buffer.alloc(10_000)]),
    };
    expect(await disk.receive(next, signal)).toBe(10_000);
  });

  it('is stored, readable by its URL, and removed', async () => {
    const { disk, receive, files } = open();

    const objectKey = await receive(of('con', 'tent'));
    const url = new URL(await disk.at('http://localhost/files').url(objectKey));
    const signed = {
      objectKey,
      expires: url.searchParams.get('expires')!,
      signature: url.searchParams.get('signature')!,
    };
    const opened = await disk.open(signed);

    expect(opened.status === 200 && (await readFile(opened.path, 'utf8'))).toBe('content');
    await disk.remove({ objectKey, account: 'one' });
    expect((await disk.open(signed)).status).toBe(404);
    expect(await files()).toEqual([]);
  });

  it('is deleted with all files of its account, whether storage is limited or not', async () => {
    for (const accountBytes of [0, 1e9]) {
      const { disk, receive, files } = open(accountBytes);
      await receive(of('content'));
      await receive(of('content', 'more'));
      const other = await receive(of('abc'), { account: 'other' });
      const before = await disk.inUse();

      await disk.removeAll('one');

      expect([before, await disk.inUse()]).toEqual([
        { results: 0, uploads: 21 },
        { results: 0, uploads: 3 },
      ]);
      expect([await files().then(({ length }) => length), await disk.exists(other)]).toEqual([1, true]);
      await disk.removeAll('other');
    }
  });

  it.each([
    ['SOURCE_TOO_LARGE', () => of('x'.repeat(600), 'x'.repeat(600))],
    ['CORRUPT_SOURCE', () => of()],
  ])('that is refused with %s leaves nothing', async (code, content) => {
    const { receive, files } = open();

    await expect(receive(content())).rejects.toMatchObject({ code });
    expect(await files()).toEqual([]);
  });

  it('that is aborted or fails leaves nothing', async () => {
    const { receive, files } = open();
    const stop = new AbortController();
    const content = new PassThrough();
    content.write('start');
    const aborted = receive(content, { stop: stop.signal });
    const failed = receive(
      Readable.from(
        (async function* () {
          yield Buffer.from('start');
          throw new Error('cut');
        })(),
      ),
    );

    await expect(failed).rejects.toThrow('cut');
    stop.abort(new Error('gone'));
    await expect(aborted).rejects.toThrow();
    expect(await files()).toEqual([]);
  });

  it('counts as storage of its account until it is removed', async () => {
    const { disk, receive } = open(100_000);
    const size = { maxBytes: 100_000 };
    const large = () => of('x'.repeat(90_000));

    const objectKey = await receive(large(), size);
    await expect(receive(large(), size)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
    await receive(large(), { ...size, account: 'two' });
    await disk.remove({ objectKey, account: 'one' });
    await disk.remove({ objectKey, account: 'one' });

    await expect(receive(large(), size)).resolves.toBeTruthy();
    await expect(receive(large(), size)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
  });

  it('is deleted after an hour, also if it was never complete', async () => {
    const { disk, receive, files, directory } = open();
    await receive(of('content'));
    const content = new PassThrough();
    content.write('start');
    const incomplete = receive(content).catch(() => {});
    while ((await files()).length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    for (const name of await files()) await utimes(join(directory, name), 0, (Date.now() - 2 * HOUR) / 1000);

    await disk.sweep(24 * HOUR, HOUR);

    expect(await files()).toEqual([]);
    content.destroy();
    await incomplete;
  });

  it('is not disturbed by another one with the same form', async () => {
    const { disk, files } = open();
    const target = { objectKey: uploadKeyOf('one', createUploadId('a.png')), account: 'one', maxBytes: 1000 };
    const content = new PassThrough();
    content.write('first');
    const first = disk.receive({ ...target, content }, signal);
    while ((await files()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));

    await expect(disk.receive({ ...target, content: of('second') }, signal)).rejects.toMatchObject({
      code: 'BAD_PARAMETER',
    });
    content.end();

    expect(await first).toBe(5);
  });

  it('waits while its account has 16 others in progress, and those of another account do not', async () => {
    const { receive, files } = open();
    const slow = Array.from({ length: 16 }, () => new PassThrough());
    const first = slow.map((content) => receive(content));
    const waiting = receive(of('next'));
    await receive(of('other'), { account: 'two' });

    expect((await files()).filter((name) => !name.endsWith('.part'))).toHaveLength(1);
    for (const content of slow) content.end('x');
    await Promise.all([...first, waiting]);
    expect(await files()).toHaveLength(18);
  });
});

describe('the ID of an upload', () => {
  it.each([
    ['letter.docx', 'letter.docx'],
    ['C:\\x\\y z.docx', 'y z.docx'],
    ['../../etc/passwd', 'passwd'],
    ['..', 'source'],
    ['', 'source'],
    ['a?b#c&d.html', 'a_b_c_d.html'],
    ['größe 図.png', 'größe 図.png'],
    [`${'x'.repeat(300)}.pdf`, `${'x'.repeat(96)}.pdf`],
    // These characters take two places of a string.
    [`${'𠀀'.repeat(300)}a.pdf`, `${'𠀀'.repeat(95)}a.pdf`],
  ])('keeps the name %j as %j', (name, kept) => {
    const id = createUploadId(name);

    expect(id).toMatch(/^[0-9a-f]{32}\//);
    expect(id.slice(33)).toBe(kept);
    expect(isUploadId(id)).toBe(true);
  });

  it('is of no use to another account', () => {
    const id = createUploadId('a.png');

    expect(uploadKeyOf('one', id)).not.toBe(uploadKeyOf('two', id));
  });

  it.each(['', 'a', '0'.repeat(32), `${'0'.repeat(32)}/`, `${'0'.repeat(32)}/a/b`, `${'g'.repeat(32)}/a`])(
    'is not %j',
    (text) => {
      expect(isUploadId(text)).toBe(false);
    },
  );
});

describe('a form', () => {
  const target = { objectKey: 'uploads/o/i/a.png', account: 'one', maxBytes: 1000 };
  const fieldsOf = async (disk: ReturnType<typeof open>['disk']) => {
    const { url, fields } = await disk.uploadsAt('http://localhost/api/uploads').form(target);
    expect(url).toBe('http://localhost/api/uploads');
    return new Map(Object.entries(fields));
  };
  const read = (disk: ReturnType<typeof open>['disk'], fields: Map<string, string>) =>
    disk.uploadsAt('').readForm!(fields);

  afterEach(() => void vi.useRealTimers());

  it('can be read for an hour', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { disk } = open();
    const fields = await fieldsOf(disk);

    vi.advanceTimersByTime(HOUR - 1);
    expect(read(disk, fields)).toMatchObject(target);
    vi.advanceTimersByTime(2);
    expect(() => read(disk, fields)).toThrow('not valid or has expired');
  });

  it('is not valid with any character changed', async () => {
    const { disk } = open();
    const fields = await fieldsOf(disk);

    for (const [name, value] of fields)
      for (let at = 0; at < value.length; at += 1) {
        const changed = value.slice(0, at) + (value[at] === 'a' ? 'b' : 'a') + value.slice(at + 1);
        expect(() => read(disk, new Map(fields).set(name, changed))).toThrow('not valid');
      }
    for (const name of fields.keys()) {
      const others = new Map([...fields].filter(([other]) => other !== name));
      expect(() => read(disk, others)).toThrow('not valid');
    }
  });

  it('stores one file, which expires after an hour and counts as storage', async () => {
    const { disk, directory, files } = open(20_000);
    const uploads = disk.uploadsAt('');
    await uploads.receive({ ...target, content: of('content') }, signal);
    const second = uploads.receive({ ...target, content: of('other') }, signal);
    await expect(second).rejects.toMatchObject({ code: 'BAD_PARAMETER' });
    const large = { ...target, objectKey: 'uploads/o/j/a.png', maxBytes: 50_000 };
    const third = uploads.receive({ ...large, content: of('x'.repeat(15_000)) }, signal);
    await expect(third).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });

    const url = new URL(await disk.at('http://localhost/files').url(target.objectKey));
    const [expires, signature] = ['expires', 'signature'].map((name) => url.searchParams.get(name)!);
    const signed = { objectKey: target.objectKey, expires: expires!, signature: signature! };
    expect((await disk.open(signed)).status).toBe(200);
    const [name] = await files();
    const old = new Date(Date.now() - HOUR - 1000);
    await utimes(join(directory, name!), old, old);
    expect((await disk.open(signed)).status).toBe(404);
  });
});
