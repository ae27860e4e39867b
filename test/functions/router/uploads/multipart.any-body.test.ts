import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDiskStorage, type DiskStorage } from '../../../../functions/platform/local/disk-storage.ts';
import { createCoalescer } from '../../../../functions/router/reuse.ts';
import { route } from '../../../../functions/router/route.ts';
import { ERRORS } from '../../../../functions/shared/errors.ts';
import { numberSetting } from '../../../../functions/shared/settings/environment.ts';
import { CONVERSION_LIMITS } from '../../../../functions/shared/tool.ts';
import { openTable } from '../../../helpers/open-table.ts';
import { recordOf, unlimited } from '../../accounts.ts';
import { tiny, tinyPage } from '../../tiny-tool.ts';
import { headerOf } from '../header.ts';

/** Set it to 10000 after a change of the parser, or of its version. */
const RUNS = numberSetting('MULTIPART_RUNS', 300, { min: 1, max: 1_000_000 });

let directory: string;
let storage: DiskStorage;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'multipart-'));
  storage = createDiskStorage({
    directory: join(directory, 'results'),
    secret: Buffer.alloc(32),
    urlLifetime: 60,
    table: openTable(directory),
  });
});
afterAll(() => rmSync(directory, { recursive: true }));

const B = 'b0undary';
const anyName = fc.oneof(
  fc.constantFrom(
    'infile',
    'asset',
    'app',
    'outfile',
    'policy',
    'file',
    '',
    '__proto__',
    '-copies',
    '_args',
    'infile[]',
  ),
  fc.string({ maxLength: 20 }),
);
const anyFileName = fc.oneof(
  fc.constantFrom(
    'a.png',
    '../../etc/passwd',
    'C:\\a\\b.png',
    '',
    '\0',
    'x'.repeat(5000),
    'images/a.png',
    'größe.png',
    '..',
    'a"b.png',
  ),
  fc.string({ unit: 'binary', maxLength: 30 }),
);
const anyContent = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom(
      '',
      'tiny',
      'b.png',
      `--${B}`,
      `\r\n--${B}`,
      `\r\n--${B}--\r\nmore`,
      `--inner\r\nContent-Disposition: form-data; name=infile\r\n\r\nx\r\n--inner--`,
      'x'.repeat(70_000),
      // Begins as a ZIP archive does.
      'PK\x03\x04\x14\0\0\0\x08\0',
    )
    .map((text) => Buffer.from(text, 'latin1')),
);
const anyHeader = fc.oneof(
  fc.constantFrom(
    'Content-Type: image/png',
    'Content-Type: multipart/mixed; boundary=inner',
    'Content-Transfer-Encoding: base64',
    'Content-Length: 5',
    'Content-Length: 999999999999',
    `X: ${'y'.repeat(20_000)}`,
    'no colon',
    ': ',
    'Content-Disposition: attachment; filename=other.png',
    '',
  ),
  fc.string({ maxLength: 60 }),
);
const anyPart = fc
  .record({
    name: fc.option(anyName, { nil: undefined }),
    fileName: fc.option(anyFileName, { nil: undefined }),
    headers: fc.array(anyHeader, { maxLength: 3 }),
    repeated: fc.integer({ min: 1, max: 4 }),
    content: anyContent,
  })
  .map(({ name, fileName, headers, repeated, content }) => {
    const disposition = [
      'Content-Disposition: form-data',
      ...(name === undefined ? [] : [`name="${name}"`]),
      ...(fileName === undefined ? [] : [`filename="${fileName}"`]),
    ].join('; ');
    const head = [`--${B}`, ...Array<string>(repeated).fill(disposition), ...headers].join('\r\n');
    return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), content, Buffer.from('\r\n')]);
  });
const field = (name: string, value: string) =>
  Buffer.from(`--${B}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
const GOOD = [
  field('app', 'tiny'),
  field('outfile', 'b.png'),
  Buffer.from(`--${B}\r\nContent-Disposition: form-data; name="infile"; filename="a.png"\r\n\r\ncontent\r\n`),
];

/** Damages a body: cuts it, or replaces, inserts or repeats bytes. */
const anyDamage = fc.record({
  kind: fc.constantFrom('none', 'cut', 'replace', 'insert', 'repeat', 'no end'),
  place: fc.double({ min: 0, max: 1, noNaN: true }),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }),
});

const anyBody = fc
  .tuple(fc.array(fc.oneof(anyPart, fc.constantFrom(...GOOD)), { maxLength: 8 }), fc.boolean(), anyDamage)
  .map(([parts, isComplete, { kind, place, bytes }]) => {
    const end = kind === 'no end' ? '' : `--${B}--\r\n`;
    const body = Buffer.concat([...(isComplete ? GOOD : []), ...parts, Buffer.from(end)]);
    const at = Math.floor(place * body.length);
    if (kind === 'cut') return body.subarray(0, at);
    if (kind === 'replace')
      return Buffer.concat([body.subarray(0, at), bytes, body.subarray(at + bytes.length)]);
    if (kind === 'insert') return Buffer.concat([body.subarray(0, at), bytes, body.subarray(at)]);
    if (kind === 'repeat') return Buffer.concat([body.subarray(0, at), body]);
    return body;
  });
const anyType = fc.oneof(
  { weight: 9, arbitrary: fc.constant(`multipart/form-data; boundary=${B}`) },
  fc.constantFrom(
    'multipart/form-data',
    'multipart/form-data; boundary=',
    `multipart/form-data; boundary="${B}"`,
    `multipart/form-data; boundary=${'x'.repeat(500)}`,
    `multipart/form-data; boundary=${B}; boundary=other`,
    'multipart/form-data; charset=utf-16; boundary=\0',
  ),
);
/** Size of the chunks in which the body arrives, in bytes. */
const anyChunk = fc.constantFrom(1, 7, 64, 1000, 65_536);

describe('any multipart body', () => {
  it('gets a result or an error of the caller, and leaves neither a file nor a descriptor', async () => {
    const uploads = storage.uploadsAt('http://localhost/api/uploads');
    const dependencies = {
      ...unlimited,
      tools: [tiny, tinyPage],
      keys: { find: async () => recordOf('owner'), findSigner: async () => undefined },
      storage: storage.at('http://localhost/files'),
      uploads,
      invoke: async () => ({ ok: true, objectKeys: [] }) as const,
      coalesce: createCoalescer(),
      limits: { ...CONVERSION_LIMITS, sourceBytes: 50_000 },
      contact: { accountUrl: 'a', supportUrl: 's' },
      log: () => {},
    };
    const codes = new Map<string, number>();
    const property = fc.asyncProperty(anyBody, anyType, anyChunk, async (body, type, size) => {
      const chunks = Array.from({ length: Math.min(Math.ceil(body.length / size), 5000) }, (_, index) =>
        body.subarray(index * size, (index + 1) * size),
      );
      const content = Readable.from(chunks, { objectMode: false });
      const http = {
        method: 'POST',
        path: '/api/',
        query: [],
        header: headerOf({ 'content-type': type, 'x-api-key': 'KEY' }),
        body: content,
      };

      const { status, headers } = await route(http, dependencies, new AbortController().signal);

      content.destroy();
      const code = headers['X-Error-Code'] ?? 'OK';
      codes.set(code, (codes.get(code) ?? 0) + 1);
      if (code !== 'OK') expect(status).toBe(ERRORS[code as keyof typeof ERRORS].status);
      expect(status, code).toBeLessThan(500);
      expect(filesBelow(join(directory, 'results'))).toEqual([]);
    });
    const before = readdirSync('/proc/self/fd').length;

    await fc.assert(property, { numRuns: RUNS, seed: 31 });

    await expect.poll(() => readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before + 1);
    // Shows that the bodies get far enough to matter.
    expect([...codes.keys()]).toEqual(expect.arrayContaining(['OK', 'CORRUPT_SOURCE', 'UNKNOWN_PARAMETER']));
  });
});

function filesBelow(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
