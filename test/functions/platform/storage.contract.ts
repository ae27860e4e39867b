import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Grant, GrantRequest, Put, Storage } from '../../../functions/platform/storage.ts';

export interface StorageUnderTest {
  /** A storage with the same objects whose URLs expire after `urlLifetime` seconds. */
  storage(urlLifetime: number): Storage;
  readonly put: Put;
  /** Whether the storage keeps the content disposition of a form. RADOS Gateway drops it, S3 does not. */
  readonly keepsDisposition: boolean;
  /** Lets time pass. */
  wait(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

/** Tests that every storage must pass. */
export function describeStorage(name: string, open: () => Promise<StorageUnderTest>): void {
  describe(`${name} as a storage`, () => {
    let place: StorageUnderTest;
    let directory: string;
    const signal = new AbortController().signal;
    beforeAll(async () => {
      place = await open();
      directory = await mkdtemp(join(tmpdir(), 'storage-'));
    });
    afterAll(async () => {
      await place.close();
      await rm(directory, { recursive: true });
    });

    const prefix = () => `${randomBytes(16).toString('hex')}/`;
    const grant = (request: Partial<GrantRequest> = {}) =>
      place.storage(60).grant({
        prefix: prefix(),
        maxBytes: 30_000_000,
        lifetime: 60_000,
        contentType: 'image/png',
        account: 'one',
        ...request,
      });
    const put = async (permission: Grant, content: Buffer, name = 'a.png', contentType = 'image/png') => {
      const path = join(directory, randomBytes(8).toString('hex'));
      await writeFile(path, content);
      return place.put(permission, { path, name, contentType, bytes: content.length }, signal);
    };

    it('opens a file with its type and length, where another server has it', async () => {
      const storage = place.storage(60);
      const content = randomBytes(100_000);
      const objectKey = await put(await grant(), content);
      if (!storage.open) return;

      const { headers, content: opened } = (await storage.open(objectKey, signal))!;

      expect(headers).toMatchObject({ 'Content-Type': 'image/png', 'Content-Length': '100000' });
      expect(Object.values(headers)).not.toContain('');
      expect(content.equals(await buffer(opened))).toBe(true);
      await expect(storage.open(`${prefix()}none.png`, signal)).rejects.toThrow();
    });

    it.each(['a.png', 'two words.png', 'page-001.png', 'Übersicht 図.png', `${'図'.repeat(176)}.png`])(
      'serves a file named %s at its URL, as it was stored',
      async (name) => {
        const where = prefix();
        const content = randomBytes(10_000);

        const objectKey = await put(await grant({ prefix: where }), content, name);
        const reply = await fetch(await place.storage(60).url(objectKey));

        expect(objectKey).toBe(where + name);
        expect(reply.status).toBe(200);
        expect(Buffer.from(await reply.arrayBuffer()).equals(content)).toBe(true);
        expect(reply.headers.get('content-type')).toBe('image/png');
        expect(reply.headers.get('content-length')).toBe('10000');
        if (!place.keepsDisposition) return;
        expect(reply.headers.get('content-disposition')).toMatch(/^inline; filename/);
        expect(reply.headers.get('content-disposition')).toContain(encodeURIComponent(name).slice(-6));
      },
    );

    it('deletes a file, even one that is already gone', async () => {
      const storage = place.storage(60);
      const objectKey = await put(await grant(), Buffer.from('x'));
      const url = await storage.url(objectKey);
      expect(await storage.exists(objectKey)).toBe(true);

      await storage.remove({ objectKey, account: 'owner' });
      await storage.remove({ objectKey, account: 'owner' });

      expect(await storage.exists(objectKey)).toBe(false);
      expect((await fetch(url)).status).toBeGreaterThanOrEqual(400);
    });

    it('stores several files under one grant', async () => {
      const permission = await grant();

      const objectKeys = [
        await put(permission, Buffer.from('1'), 'p-1.png'),
        await put(permission, Buffer.from('2'), 'p-2.png'),
      ];
      const bodies = await Promise.all(
        objectKeys.map(async (objectKey) => (await fetch(await place.storage(60).url(objectKey))).text()),
      );

      expect(bodies).toEqual(['1', '2']);
    });

    it('stores a file of 25 MB without holding it in memory', async () => {
      const content = randomBytes(25_000_000);
      const before = process.memoryUsage().rss;

      const objectKey = await put(await grant(), content);
      const grown = process.memoryUsage().rss - before;
      const reply = await fetch(await place.storage(60).url(objectKey));

      expect(Buffer.from(await reply.arrayBuffer()).equals(content)).toBe(true);
      expect(grown).toBeLessThan(60_000_000);
    });

    it('survives serialization as JSON', async () => {
      const permission = JSON.parse(JSON.stringify(await grant())) as Grant;

      await expect(put(permission, Buffer.from('x'))).resolves.toMatch(/\/a\.png$/);
    });

    it('rejects a file larger than the grant allows, with a code', async () => {
      const permission = await grant({ maxBytes: 1000 });

      await expect(put(permission, randomBytes(1001))).rejects.toMatchObject({
        code: 'RESULT_TOO_LARGE',
        message: 'The result exceeds the limit of 0.001 MB.',
      });
      await expect(put(permission, randomBytes(1000))).resolves.toBeTruthy();
    });

    it('rejects an expired grant', async () => {
      const permission = await grant({ lifetime: -1000 });

      await expect(put(permission, Buffer.from('x'))).rejects.toThrow();
    });

    it('rejects a grant that expires after it was issued', async () => {
      const permission = await grant({ lifetime: 1000 });
      await place.wait(2500);

      await expect(put(permission, Buffer.from('x'))).rejects.toThrow();
    });

    it.each(['text/html', 'image/svg+xml'])(
      'rejects a media type other than the granted one: %s',
      async (type) => {
        const permission = await grant();

        await expect(put(permission, Buffer.from('<script>'), 'a', type)).rejects.toThrow();
      },
    );

    it('rejects a grant with a changed prefix', async () => {
      const [own, foreign] = [prefix(), prefix()];
      const permission = await grant({ prefix: own });
      const tampered = JSON.parse(JSON.stringify(permission).replaceAll(own, foreign)) as Grant;

      expect(JSON.stringify(tampered)).not.toBe(JSON.stringify(permission));
      await expect(put(tampered, Buffer.from('x'))).rejects.toThrow();
    });

    it('rejects a grant with any text in it changed', async () => {
      const permission = await grant();
      const tampered = changedInOnePlace(permission);

      const stored = await Promise.all(
        tampered.map((changed) => put(changed, Buffer.from('x')).catch(() => 'refused')),
      );

      expect(tampered.length).toBeGreaterThan(1);
      expect(stored.filter((outcome) => outcome !== 'refused')).toEqual([]);
    });

    it.each(['../a.png', 'b/../../../a.png', '/a.png'])(
      'writes nothing outside the prefix for %s',
      async (name) => {
        const where = prefix();

        const objectKey = await put(await grant({ prefix: where }), Buffer.from('x'), name).catch(
          () => where,
        );

        expect(objectKey.startsWith(where)).toBe(true);
      },
    );

    it('rejects a URL with one letter changed anywhere in path or query', async () => {
      const objectKey = await put(await grant(), Buffer.from('x'));
      const address = new URL(await place.storage(60).url(objectKey));
      const places = [...`${address.pathname}${address.search}`.matchAll(/[0-9a-f]{6,}/g)];
      const tampered = places.map(({ index }) => {
        const text = `${address.pathname}${address.search}`;
        const other = text[index] === '0' ? '1' : '0';
        return `${address.origin}${text.slice(0, index)}${other}${text.slice(index + 1)}`;
      });

      const statuses = await Promise.all(tampered.map(async (changed) => (await fetch(changed)).status));

      expect(statuses.length).toBeGreaterThan(1);
      for (const status of statuses) expect([400, 403, 404]).toContain(status);
    });

    it('rejects a URL without its signature', async () => {
      const objectKey = await put(await grant(), Buffer.from('x'));
      const address = new URL(await place.storage(60).url(objectKey));
      address.search = '';

      expect([403, 404]).toContain((await fetch(address)).status);
    });

    it('rejects an expired URL', async () => {
      const objectKey = await put(await grant(), Buffer.from('x'));
      const address = await place.storage(10).url(objectKey);
      const early = (await fetch(address)).status;
      await place.wait(11_500);

      expect(early).toBe(200);
      expect([403, 404, 410]).toContain((await fetch(address)).status);
    });

    it('returns 404 for a signed URL of a missing object', async () => {
      expect((await fetch(await place.storage(60).url(`${prefix()}none.png`))).status).toBe(404);
    });

    it('stops storing when aborted', async () => {
      const permission = await grant();
      const path = join(directory, 'stopped');
      await writeFile(path, randomBytes(1000));

      const stopped = place.put(
        permission,
        { path, name: 'a.png', contentType: 'image/png', bytes: 1000 },
        AbortSignal.abort(new Error('told to')),
      );

      await expect(stopped).rejects.toThrow('told to');
    });
  });
}

/** Returns copies of a value, each with the first letter of one of its texts changed. */
function changedInOnePlace(value: Grant): Grant[] {
  const texts = (inner: unknown, path: readonly string[]): { path: readonly string[]; text: string }[] => {
    if (typeof inner === 'string') return inner === '' ? [] : [{ path, text: inner }];
    if (typeof inner !== 'object' || inner === null) return [];
    return Object.entries(inner).flatMap(([name, entry]) => texts(entry, [...path, name]));
  };
  return texts(value, []).map(({ path, text }) => {
    const copy = structuredClone(value) as Record<string, unknown>;
    const parent = path.slice(0, -1).reduce((inner, name) => inner[name] as Record<string, unknown>, copy);
    parent[path.at(-1)!] = (text[0] === 'a' ? 'b' : 'a') + text.slice(1);
    return copy;
  });
}
