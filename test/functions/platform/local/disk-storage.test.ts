import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDiskStorage } from '../../../../functions/platform/local/disk-storage.ts';
import { createHttpServer } from '../../../../infra/local/server/http/server.ts';
import { openTable } from '../../../helpers/open-table.ts';
import { describeStorage } from '../storage.contract.ts';

/** Disks with one directory and secret, behind the server of the one-machine deployment. */
async function serveDisk() {
  // The folders of accounts are beside it.
  const folder = await mkdtemp(join(tmpdir(), 'disk-'));
  const directory = join(folder, 'results');
  await mkdir(directory);
  const secret = randomBytes(32);
  const table = openTable(folder);
  const disk = (urlLifetime: number) => createDiskStorage({ directory, secret, urlLifetime, table });
  const { server } = createHttpServer({
    log: () => {},
    connections: 100,
    storage: disk(60),
    texts: new Map(),
    route: async () => ({ status: 404, headers: {}, body: '' }),
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    directory,
    table,
    secret,
    disk,
    storage: (urlLifetime: number) => disk(urlLifetime).at(`http://127.0.0.1:${port}/files`),
    put: disk(60).put,
    keepsDisposition: true,
    wait: async (milliseconds: number) => {
      vi.advanceTimersByTime(milliseconds);
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true });
    },
  };
}

beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
});
afterAll(() => {
  vi.useRealTimers();
});

describeStorage('a disk', serveDisk);

describe('a disk behind the server', () => {
  let place: Awaited<ReturnType<typeof serveDisk>>;
  beforeEach(async () => {
    place = await serveDisk();
  });
  afterEach(() => place.close());

  const signal = new AbortController().signal;
  const store = async (name: string, contentType: string, content = 'content') => {
    const path = join(place.directory, randomBytes(4).toString('hex'));
    await writeFile(path, content);
    const prefix = `${randomBytes(16).toString('hex')}/`;
    const account = 'one';
    const grant = await place
      .storage(60)
      .grant({ prefix, maxBytes: 1000, lifetime: 60_000, contentType, account });
    return place.put(grant, { path, name, contentType, bytes: content.length }, signal);
  };

  it.each([
    ['a.jpg', 'image/jpeg'],
    ['a.JPEG', 'image/jpeg'],
    ['a.pdf', 'application/pdf'],
    ['a.jpg.zip', 'application/zip'],
  ])('serves %s as %s, which browsers must not reinterpret', async (name, contentType) => {
    const reply = await fetch(await place.storage(60).url(await store(name, contentType)));

    expect(reply.headers.get('content-type')).toBe(contentType);
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('serves ranges, for media players and interrupted downloads', async () => {
    const address = await place.storage(60).url(await store('a.pdf', 'application/pdf', '0123456789'));

    const reply = await fetch(address, { headers: { range: 'bytes=2-4' } });

    expect(reply.status).toBe(206);
    expect(await reply.text()).toBe('234');
  });

  it.each(['bytes=10-', 'bytes=10-20', 'bytes=99999999999999999999-'])(
    'rejects the range %s of a file of ten bytes with its size, and serves the next request',
    async (range) => {
      const address = await place.storage(60).url(await store('a.pdf', 'application/pdf', '0123456789'));

      const reply = await fetch(address, { headers: { range } });

      expect(reply.status).toBe(416);
      expect(reply.headers.get('content-range')).toBe('bytes */10');
      expect(await reply.text()).toBe('[ERROR] The range is not satisfiable.');
      expect(await (await fetch(address)).text()).toBe('0123456789');
    },
  );

  it.each([
    ['if-match', '"other"'],
    ['if-unmodified-since', 'Mon, 01 Jan 2001 00:00:00 GMT'],
  ])('rejects a request whose %s does not hold', async (header, value) => {
    const address = await place.storage(60).url(await store('a.pdf', 'application/pdf'));

    const reply = await fetch(address, { headers: { [header]: value } });

    expect(reply.status).toBe(412);
    expect(await reply.text()).toContain('does not meet the conditions');
  });

  it('moves the file out of its directory', async () => {
    await store('a.pdf', 'application/pdf');

    expect((await readdir(place.directory)).filter((name) => name.length === 8)).toEqual([]);
  });

  it.each(['../b.pdf', '../../b.pdf', '/tmp/b.pdf', 'b/../../c.pdf', '..'])(
    'rejects the name %s',
    async (name) => {
      await expect(store(name, 'application/pdf')).rejects.toThrow();
    },
  );

  it('rejects a URL signed with another secret', async () => {
    const objectKey = await store('a.pdf', 'application/pdf');
    const stranger = createDiskStorage({
      directory: place.directory,
      secret: randomBytes(32),
      urlLifetime: 60,
      table: place.table,
    });
    const origin = new URL(await place.storage(60).url(objectKey)).origin;

    const reply = await fetch(await stranger.at(`${origin}/files`).url(objectKey));

    expect(reply.status).toBe(403);
    expect(await reply.text()).toBe('[ERROR] The URL is not valid or has expired.');
  });

  it.each(['../keys.json', '..%2Fkeys.json', '%2e%2e/keys.json', '', '%', '\0'])(
    'serves no file outside of the storage for the path %j',
    async (path) => {
      const { origin } = new URL(await place.storage(60).url('a'));

      const reply = await fetch(`${origin}/files/${path}?expires=9999999999&signature=${'0'.repeat(64)}`);

      expect([403, 404]).toContain(reply.status);
    },
  );

  it('keeps URLs valid across a restart', async () => {
    const address = new URL(await place.storage(60).url(await store('a.pdf', 'application/pdf')));

    const opened = await place.disk(60).open({
      objectKey: address.pathname.slice('/files/'.length),
      expires: address.searchParams.get('expires')!,
      signature: address.searchParams.get('signature')!,
    });

    expect(opened.status === 200 && (await readFile(opened.path, 'utf8'))).toBe('content');
  });

  it('ends an upload when the disk becomes full, and leaves nothing of it', async () => {
    let looks = 0;
    const space = {
      check() {},
      free: () => ({ data: 0 }),
      get isLow() {
        return ++looks > 2;
      },
    };
    const disk = createDiskStorage({ ...place, urlLifetime: 60, space: space as never });
    const content = Readable.from(
      Array.from({ length: 20 }, () => Buffer.alloc(2 ** 20)),
      { objectMode: false },
    );
    const upload = { objectKey: 'uploads/one', account: 'one', maxBytes: 1e9, content };

    await expect(disk.receive(upload, signal)).rejects.toMatchObject({ code: 'OVERLOADED' });

    expect(looks).toBe(3);
    expect(await readdir(place.directory)).toEqual([]);
  });

  it('deletes only expired objects', async () => {
    const [old, fresh] = [await store('a.pdf', 'application/pdf'), await store('b.pdf', 'application/pdf')];
    const anHourAgo = new Date(Date.now() - 3_600_000);
    const folder = join(place.directory, '0000 of an earlier version');
    await mkdir(join(folder, 'in it'), { recursive: true });
    const object = join(place.directory, createHash('sha256').update(old).digest('hex'));
    for (const path of [folder, object]) await utimes(path, anHourAgo, anHourAgo);

    await place.disk(60).sweep(1_800_000);

    expect(await readdir(place.directory)).toHaveLength(1);
    expect((await fetch(await place.storage(60).url(old))).status).toBe(404);
    expect((await fetch(await place.storage(60).url(fresh))).status).toBe(200);
  });

  it('stores the result of a conversion during which the clock of the system was changed', async () => {
    const request = { prefix: 'a/', maxBytes: 10, lifetime: 60_000, contentType: 'image/png', account: 'me' };
    const path = join(place.directory, 'result');
    await writeFile(path, 'x');
    const grant = await place.storage(60).grant(request);
    vi.setSystemTime(Date.now() + 86_400_000);

    const stored = place.put(grant, { path, name: 'a.png', contentType: 'image/png', bytes: 1 }, signal);

    await expect(stored).resolves.toBe('a/a.png');
    vi.setSystemTime(Date.now() - 86_400_000);
  });

  it('does not count an object that could not be stored', async () => {
    const disk = createDiskStorage({ ...place, urlLifetime: 60, accountBytes: 10_000 });
    const request = {
      prefix: 'a/',
      maxBytes: 10_000,
      lifetime: 60_000,
      contentType: 'image/png',
      account: 'me',
    };
    const grant = await disk.at('http://localhost').grant(request);
    const file = { path: join(place.directory, 'missing'), name: 'a.png', contentType: 'image/png' };
    await expect(disk.put(grant, { ...file, bytes: 9000 }, signal)).rejects.toThrow('ENOENT');

    await expect(disk.put(grant, { ...file, bytes: 9000 }, signal)).rejects.toThrow('ENOENT');
  });

  it('still counts an object that is being copied from another file system', async () => {
    const disk = createDiskStorage({ ...place, urlLifetime: 60, accountBytes: 10 });
    const name = createHash('sha256').update('a/b.pdf').digest('hex');
    const account = createHash('sha256').update('me').digest('hex').slice(0, 32);
    const id = `stored#${account}#${name}`;
    await place.table.put({ id, bytes: 10 });
    await mkdir(place.directory, { recursive: true });
    await writeFile(join(place.directory, `${name}.part`), '');

    await disk.sweep(1_800_000);

    expect(await place.table.get(id)).toBeDefined();
  });
});
