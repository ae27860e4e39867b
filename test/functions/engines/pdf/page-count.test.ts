import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countPages } from '../../../../functions/engines/pdf/page-count.ts';
import { A4, makePdf } from '../../../fixtures/pdf.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pdf-pages-test-'));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

async function count(bytes: Buffer): Promise<number> {
  const path = join(directory, 'some.pdf');
  await writeFile(path, bytes);
  return countPages(path);
}

describe('countPages', () => {
  it.each([1, 7, 3000])('counts %i', async (pages) => {
    const counted = await count(makePdf(Array.from({ length: pages }, () => A4)));

    expect(counted).toBe(pages);
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a PDF cut short', makePdf([A4]).subarray(0, 300)],
    ['a start without an end', Buffer.from('%PDF-1.7\n')],
    [
      'an end that points nowhere',
      Buffer.from('%PDF-1.7\ntrailer <</Root 1 0 R>>\nstartxref\n99999\n%%EOF\n'),
    ],
    ['another kind of file', Buffer.from('PK\x03\x04 trailer')],
  ])('returns 0 for %s', async (_, bytes) => {
    const counted = await count(bytes);

    expect(counted).toBe(0);
  });

  it('returns 0 if there is no file', async () => {
    const counted = await countPages(join(directory, 'none.pdf'));

    expect(counted).toBe(0);
  });
});
