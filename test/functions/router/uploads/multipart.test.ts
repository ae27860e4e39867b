import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isFile, readMultipart } from '../../../../functions/router/uploads/multipart.ts';
import { ConversionError } from '../../../../functions/shared/errors.ts';

const TYPE = 'multipart/form-data; boundary=b';

/** Reads a body that arrives in chunks of a size. */
async function read(body: Buffer | string, { type = TYPE, chunk = 1000 } = {}): Promise<unknown[]> {
  const bytes = Buffer.from(body);
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, index) =>
    bytes.subarray(index * chunk, (index + 1) * chunk),
  );
  const parts: unknown[] = [];
  for await (const part of readMultipart(Readable.from(chunks, { objectMode: false }), type)) {
    if (isFile(part)) {
      const { content, ...facts } = part;
      parts.push({ ...facts, content: (await buffer(content)).toString('latin1') });
    } else parts.push(part);
  }
  return parts;
}

const field = (name: string, value: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (name: string, fileName: string, content: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"; filename="${fileName}"\r\nContent-Type: text/html\r\n\r\n${content}\r\n`;
const END = '--b--\r\n';

describe('a multipart body', () => {
  it.each([1, 7, 64, 100_000])('is read in its order, in chunks of %d bytes', async (chunk) => {
    const content = 'x'.repeat(chunk === 1 ? 300 : 200_000);
    const body = `${field('app', 'tiny')}${file('infile', 'dir/a.html', content)}${field('-f', 'é\r\n')}${END}`;

    expect(await read(body, { chunk })).toEqual([
      { name: 'app', value: 'tiny' },
      { name: 'infile', fileName: 'dir/a.html', contentType: 'text/html', content },
      { name: '-f', value: 'é\r\n' },
    ]);
  });

  it('is not read ahead while its first file waits, however small the files are', async () => {
    let consumed = 0;
    async function* body() {
      for (let count = 0; count < 200; count++) {
        const bytes = Buffer.from(file('asset', `${count}.txt`, 'x'.repeat(100_000)));
        for (let start = 0; start < bytes.length; start += 10_000) {
          const chunk = bytes.subarray(start, start + 10_000);
          consumed += chunk.length;
          yield chunk;
        }
      }
    }
    const parts = readMultipart(Readable.from(body(), { objectMode: false }), TYPE);

    const { value: first } = await parts.next();
    await new Promise((resolve) => setTimeout(resolve, 100));

    expect(first).toMatchObject({ fileName: '0.txt' });
    expect(consumed).toBeLessThan(300_000);
    await parts.return(undefined);
  });

  it('may contain nothing', async () => {
    expect(await read(END)).toEqual([]);
  });

  it.each([
    ['in a field', field('app', 'tiny').slice(0, -4)],
    ['in a file', file('infile', 'a.html', 'content').slice(0, -4)],
    ['after a part', field('app', 'tiny')],
    ['in a header', '--b\r\nContent-Disp'],
    ['without any part', ''],
    ['without a boundary', 'app=tiny'],
  ])('that ends %s is CORRUPT_SOURCE', async (_, body) => {
    await expect(read(body)).rejects.toMatchObject({ code: 'CORRUPT_SOURCE' });
  });

  it('needs a boundary in its content type', async () => {
    await expect(read(END, { type: 'multipart/form-data' })).rejects.toMatchObject({
      code: 'CORRUPT_SOURCE',
    });
  });

  it.each([
    ['fields', field('a', 'b').repeat(501)],
    ['files', file('asset', 'a', 'b').repeat(201)],
    ['bytes in a field', field('a', 'x'.repeat(1_000_001))],
    ['bytes in all fields', field('a', 'x'.repeat(300_000)).repeat(4)],
  ])('with too many %s is BAD_PARAMETER', async (_, body) => {
    await expect(read(body + END, { chunk: 60_000 })).rejects.toMatchObject({ code: 'BAD_PARAMETER' });
  });

  it('may arrive at once, long before its file is read, as on AWS', async () => {
    const body = Readable.from([Buffer.from(file('infile', 'a', 'x'.repeat(4_000_000)) + END)], {
      objectMode: false,
    });
    const parts = readMultipart(body, TYPE);
    const { value } = await parts.next();
    await sleep(100);

    expect(await buffer(value.content)).toHaveLength(4_000_000);
    expect(await parts.next()).toMatchObject({ done: true });
  });

  it('may have as many fields and files as are allowed, with long names', async () => {
    const fields = field('name'.repeat(20), 'x'.repeat(1900)).repeat(500);
    const files = file('asset', 'path/'.repeat(100), 'x'.repeat(5000)).repeat(200);

    expect(await read(files + fields + END, { chunk: 60_000 })).toHaveLength(700);
  });

  it.each([
    ['parts without a name', '', `--b\r\n\r\n\r\n`],
    ['bytes before the first part', '', 'a'],
    ['bytes of headers', '', `--b\r\n${'a: b\r\n'.repeat(1300)}\r\nx\r\n`],
    ['bytes of headers after a file', file('asset', 'a', 'b'), `--b\r\n${'a: b\r\n'.repeat(1300)}\r\nx\r\n`],
  ])('is not read to its end if it has too many %s', async (_, first, unit) => {
    const chunk = Buffer.from(unit.repeat(Math.ceil(64_000 / unit.length)));
    let chunks = 0;
    const body = Readable.from(
      (function* () {
        yield Buffer.from(`\r\n${first}`);
        for (; chunks < 1000; chunks += 1) yield chunk;
      })(),
    );

    const reading = (async () => {
      for await (const part of readMultipart(body, TYPE)) if (isFile(part)) await buffer(part.content);
    })();

    await expect(reading).rejects.toMatchObject({ code: 'BAD_PARAMETER' });
    expect(chunks).toBeLessThan(100);
  });

  it('fails with the error of the connection, also in the middle of a file', async () => {
    const slow = new ConversionError('SOURCE_TIMEOUT', 'Too slow.');
    const isReached = Promise.withResolvers<void>();
    const body = Readable.from(
      (async function* () {
        yield Buffer.from(file('infile', 'a', 'content').slice(0, -4));
        await isReached.promise;
        throw slow;
      })(),
    );
    const parts = readMultipart(body, TYPE);
    const { value } = await parts.next();
    isReached.resolve();

    await expect(buffer(value.content)).rejects.toBe(slow);
    await expect(parts.next()).rejects.toBe(slow);
  });

  it('ends with its parts or a typed error, whatever is broken in it', async () => {
    const whole = Buffer.from(
      field('app', 'x') +
        file('infile', 'a', 'content') +
        file('asset', 'b/c', '--b-') +
        field('z', '') +
        END,
    );
    const change = fc.record({
      at: fc.nat(whole.length),
      cut: fc.nat(40),
      insert: fc.oneof(
        fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes)),
        fc
          .constantFrom('--b', '\r\n', '\r\n\r\n', '--b--', 'filename="', 'Content-Type: ')
          .map((text) => Buffer.from(text)),
      ),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 80 }),
        async (changes, chunk) => {
          const broken = changes.reduce(
            (bytes, { at, cut, insert }) =>
              Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + cut)]),
            whole,
          );
          const ended = await read(broken, { chunk }).catch((thrown: unknown) => thrown);

          if (Array.isArray(ended)) return;
          expect(ended).toBeInstanceOf(ConversionError);
          expect(['CORRUPT_SOURCE', 'BAD_PARAMETER']).toContain((ended as ConversionError).code);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
