import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
import type { PageKind } from '../../fixtures/mixed-pdf/page.ts';
import { writePdf } from '../../fixtures/mixed-pdf/pdf.ts';
import { makePhoto } from '../../fixtures/photo.ts';
import { type Peers, runProgram } from '../peers/peers.ts';
import { writeLargeOffice, writeOffice } from './office/office.ts';
import { writePages, writeSheets } from './pages.ts';

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

export const SHEETS = [1, 5, 10, 25, 50, 100, 150, 200] as const;
const LARGE = [
  { file: 'large-text.docx', name: '300-page docx to PDF' },
  { file: 'large-table.xlsx', name: '50,000-row xlsx to PDF' },
  { file: 'large-slides.pptx', name: '100-slide pptx with pictures to PDF' },
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
