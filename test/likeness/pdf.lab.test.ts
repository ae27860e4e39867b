import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writePdf } from '../fixtures/mixed-pdf.ts';
import { makePhoto } from '../fixtures/photo.ts';
import { commonWords, hasPoppler, nameOf, PDF_CASES, startComparing } from './pdf.ts';

const FACES = join(import.meta.dirname, '../../dist/layers/fonts/faces');

const folder = await mkdtemp(join(tmpdir(), 'docmill-likeness-'));
const source = join(folder, 'pages.pdf');
const picture = { jpeg: await makePhoto(320, 240, 1), width: 320, height: 240 };
const font = await readFile(join(FACES, 'LiberationSans-Regular.ttf'));
await writeFile(source, writePdf(['chart', 'table', 'picture'], font, picture, 5));
const comparing = await startComparing();
afterAll(async () => {
  await comparing.close();
  await rm(folder, { recursive: true });
});

// Black and white dots are placed differently.
const cases = PDF_CASES.filter(({ options }) => !options.includes('-mono'));

describe.skipIf(!(await hasPoppler()))('pdftools makes what poppler makes (needs pdftoppm)', () => {
  it.each(cases.map((each) => [nameOf(each) || 'defaults', each] as const))('with %s', async (_, each) => {
    const { ours, theirs, similarity } = await comparing.tryCase(each, source);

    expect(ours).toBe(theirs);
    // The letters of some of these pages are three pixels tall.
    expect(similarity).toBeGreaterThan(0.8);
  });

  it('tells different pages apart', async () => {
    const [first] = PDF_CASES;
    const other = { ...first!, theirs: [...first!.theirs, '-f', '2', '-l', '2'] };

    expect(await comparing.tryCase(other, source)).toMatchObject({ verdict: 'look' });
  });
});

it('counts the words that two texts have in common', () => {
  expect(commonWords('one two two three', 'two one four two')).toBeCloseTo(0.75);
  expect(commonWords('\u202bone\u202c two', 'one two')).toBe(1);
  expect(commonWords('', '')).toBe(1);
});
