import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
import { type PageKind, writePdf } from '../fixtures/mixed-pdf.ts';
import { paragraph, sentence, word } from '../fixtures/page.ts';
import { makePhoto } from '../fixtures/photo.ts';
import { randomNumbers } from '../helpers/random.ts';
import { writeLargeOffice, writeOffice } from './office.ts';
import { type Peers, runProgram } from './peers.ts';

/** Files to convert, all below `folder`. */
export interface Inputs {
  readonly folder: string;
  readonly pdfs: readonly string[];
  readonly documents: readonly string[];
  readonly pages: readonly string[];
  /** 12 megapixels. */
  readonly photo: string;
  /** 200 photographs of 1 to 2 megapixels. */
  readonly photos: readonly string[];
  /** Long office documents, and the names of their rows. */
  readonly large: ReadonlyArray<{ readonly file: string; readonly name: string }>;
  /** 117 pages of all kinds. */
  readonly book: string;
  /** 500 pages of text and tables. */
  readonly tome: string;
  /** Web pages that print on this many A4 pages. */
  readonly sheets: ReadonlyMap<number, string>;
}

const SHEETS = [1, 5, 10, 25, 50, 100, 150, 200] as const;
const LARGE = [
  { file: 'large-text.docx', name: '300-page docx to PDF' },
  { file: 'large-table.xlsx', name: '50,000-row xlsx to PDF' },
  { file: 'large-slides.pptx', name: '100-slide pptx to PDF' },
] as const;
const PHOTOS = { different: 20, all: 200 } as const;
/** Changes whenever the inputs change. */
const COMPLETE = 'complete-2';
const OFFICE = /\.(docx?|xlsx?|pptx?|rtf)$/i;
const PICTURE = { width: 1600, height: 1200 };

/** Creates missing inputs. A folder given by the caller replaces the PDFs, documents and pages. */
export async function prepareInputs(
  folder: string,
  { given, fonts, peers }: { given: string | undefined; fonts: string; peers: Peers },
): Promise<Inputs> {
  await mkdir(folder, { recursive: true });
  const at = (name: string) => join(folder, name);
  if (!existsSync(at(COMPLETE))) await makeAll(at, fonts, peers);
  await rm(at('given'), { force: true });
  if (given !== undefined) await symlink(resolve(given), at('given'));
  const files = given === undefined ? await list(folder) : await list(at('given'));
  const own = ['book.pdf', 'tome.pdf'].map(at);
  return {
    folder,
    pdfs: files.filter((file) => extname(file) === '.pdf' && !own.includes(file)),
    documents: files.filter((file) => OFFICE.test(file) && !basename(file).startsWith('large-')),
    pages: files.filter((file) => extname(file) === '.html' && !/sheets-\d+/.test(file)),
    photo: at('photo-12.jpg'),
    photos: Array.from({ length: PHOTOS.all }, (_, index) => at(`photos/${index}.jpg`)),
    large: LARGE.map(({ file, name }) => ({ file: at(file), name })),
    book: at('book.pdf'),
    tome: at('tome.pdf'),
    sheets: new Map(SHEETS.map((count) => [count, at(`sheets-${count}.html`)])),
  };
}

async function makeAll(at: (name: string) => string, fonts: string, peers: Peers): Promise<void> {
  const font = await readFile(join(fonts, 'faces/LiberationSans-Regular.ttf'));
  const picture = { ...PICTURE, jpeg: await makePhoto(PICTURE.width, PICTURE.height, 1) };
  const pdf = (name: string, kinds: readonly PageKind[], seed: number) =>
    writeFile(at(name), writePdf(kinds, font, picture, seed));
  const mixture: readonly PageKind[] = ['text', 'text', 'table', 'chart', 'text', 'picture', 'text', 'table'];
  const pages = (count: number, kinds = mixture) =>
    Array.from({ length: count }, (_, index) => kinds[index % kinds.length]!);

  for (const [index, kind] of (['text', 'table', 'chart', 'picture', 'scan'] as const).entries()) {
    for (const count of [1, 12, 60]) {
      await pdf(`${kind}-${count}.pdf`, [kind, ...pages(count - 1)], 10 * index + count);
    }
  }
  await pdf('book.pdf', pages(117), 117);
  await pdf('tome.pdf', pages(500, ['text', 'table']), 500);
  await writeFile(at('photo.jpg'), await makePhoto(1600, 1200, 2));
  await writeFile(at('photo-12.jpg'), await makePhoto(4000, 3000, 3, 88));
  for (const [name, html] of writePages()) await writeFile(at(name), html);
  for (const count of SHEETS) await writeFile(at(`sheets-${count}.html`), writeSheets(count));
  for (const [name, bytes] of await writeOffice()) await writeFile(at(name), bytes);
  const photos: Buffer[] = [];
  for (let index = 0; index < PHOTOS.different; index += 1) {
    const width = 1200 + 20 * index;
    photos.push(await makePhoto(width, Math.round((width * 3) / 4), 100 + index));
  }
  await mkdir(at('photos'), { recursive: true });
  for (let index = 0; index < PHOTOS.all; index += 1)
    await writeFile(at(`photos/${index}.jpg`), photos[index % photos.length]!);
  for (const [name, bytes] of await writeLargeOffice(photos.slice(0, 10))) await writeFile(at(name), bytes);
  await saveOldFormats(at, peers);
  await writeFile(at(COMPLETE), '');
}

/** The binary formats are too complex to write by hand, so the peer office suite saves them. */
async function saveOldFormats(at: (name: string) => string, { found }: Peers): Promise<void> {
  if (found.soffice === undefined) return;
  const profile = `-env:UserInstallation=file://${at('profile')}`;
  for (const name of [
    'letter.docx',
    'report.docx',
    'list.xlsx',
    'ledger.xlsx',
    'talk.pptx',
    'lecture.pptx',
  ]) {
    const old = extname(name).slice(1, -1);
    const args = [profile, '--headless', '--convert-to', old, '--outdir', at(''), at(name)];
    await runProgram(found.soffice, args);
  }
  await rm(at('profile'), { recursive: true });
}

async function list(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

const STYLE = `
  body { font: 15px/1.5 sans-serif; margin: 40px; color: #222 }
  h1, h2 { font-family: serif } table { border-collapse: collapse; width: 100% }
  td, th { border: 1px solid #ccc; padding: 4px 8px } tr:nth-child(even) { background: #f4f6fa }
  .sheet { break-after: page } .grid { display: grid; grid-template-columns: repeat(3, 1fr); gap: 12px }
  .card { border-radius: 8px; box-shadow: 0 1px 4px #0004; padding: 12px; background: linear-gradient(#fff, #eef) }
  img { max-width: 100% }
`;

/** Typical web pages: file name to HTML. They show `photo.jpg` from the same folder. */
function writePages(): ReadonlyMap<string, string> {
  const random = randomNumbers(7);
  const rows = (count: number) =>
    Array.from(
      { length: count },
      () =>
        `<tr><td>${word(random)}</td><td>${sentence(random)}</td><td>${(random() * 900).toFixed(2)}</td></tr>`,
    ).join('');
  const paragraphs = (count: number) =>
    Array.from({ length: count }, () => `<p>${paragraph(random)}</p>`).join('');
  const cards = Array.from(
    { length: 12 },
    (_, index) =>
      `<div class="card"><h2>${word(random)}</h2><p>${sentence(random)}</p><svg id="c${index}" viewBox="0 0 200 60"></svg></div>`,
  );
  return new Map([
    ['note.html', page('A note', `<h1>A note</h1>${paragraphs(3)}`)],
    [
      'article.html',
      page('An article', `<h1>An article</h1><img src="photo.jpg" width="600">${paragraphs(24)}`),
    ],
    ['invoice.html', page('An invoice', `<h1>Invoice</h1><table>${rows(60)}</table>`)],
    [
      'board.html',
      page('A board', `<h1>Board</h1><div class="grid">${cards.join('')}</div><script>${DRAW}</script>`),
    ],
    [
      'gallery.html',
      page(
        'A gallery',
        `<h1>Gallery</h1><div class="grid">${'<img src="photo.jpg" loading="lazy" width="300" height="225">'.repeat(12)}</div>`,
      ),
    ],
  ]);
}

/** A web page that prints on `count` A4 pages. */
function writeSheets(count: number): string {
  const random = randomNumbers(count);
  const sheet = (number: number) =>
    `<section class="sheet"><h2>Sheet ${number}</h2>${Array.from({ length: 6 }, () => `<p>${paragraph(random)}</p>`).join('')}</section>`;
  return page(`${count} sheets`, Array.from({ length: count }, (_, index) => sheet(index + 1)).join(''));
}

const DRAW = `
  document.querySelectorAll('svg').forEach((svg, index) => {
    const points = Array.from({ length: 50 }, (_, step) => step * 4 + ',' + (30 + 25 * Math.sin(step / (2 + index))));
    svg.innerHTML = '<polyline fill="none" stroke="#36c" stroke-width="2" points="' + points.join(' ') + '"/>';
  });
`;

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title><style>${STYLE}</style></head><body>${body}</body></html>`;
}
