// Compares a tool with the program whose options it has.
import { readArguments, readInteger } from '../run/report.ts';
import { run as documents } from './documents.ts';
import { run as images } from './images.ts';
import { run as pdf } from './pdf.ts';
import { run as web } from './web.ts';
import { run as word } from './word.ts';

interface Options {
  readonly write: boolean;
  /** Number of inputs, spread evenly over all. */
  readonly limit: number;
  /** Part of the names of the inputs to compare; empty for all. */
  readonly only: string;
}

/** Returns the exit code. */
type Run = (folder: string, options: Options) => Promise<number>;

const SUBJECTS: Readonly<Record<string, { readonly run: Run; readonly folder?: string }>> = {
  documents: { run: documents },
  images: { run: images },
  pdf: { run: pdf },
  // Downloads its pages to the folder.
  web: { run: web, folder: 'dist/likeness/web' },
  word: { run: word },
};

const { values, positionals, fail } = readArguments(
  `npm run likeness -- ${Object.keys(SUBJECTS).join('|')} [DIR] [--write] [--limit=N] [--only=TEXT]`,
  {
    write: { type: 'boolean', default: false },
    limit: { type: 'string', default: '100' },
    only: { type: 'string', default: '' },
  },
);
const subject = SUBJECTS[positionals[0] ?? ''] ?? fail('Name what to compare.');
const folder = positionals[1] ?? subject.folder ?? fail('Name a folder.');
const limit = readInteger(['limit', values.limit], { min: 1 }, fail);
// Exiting ends the child processes, which a signal alone would not.
for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const) {
  process.once(signal, () => process.exit(code));
}
process.exit(await subject.run(folder, { ...values, limit }));
