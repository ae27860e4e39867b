// Compares a tool with the program whose options it has: npm run likeness -- SUBJECT DIR [--write]
import { run as images } from './images.ts';

type Run = (folder: string, options: { write: boolean }) => Promise<number>;

const SUBJECTS: Readonly<Record<string, Run>> = { images };

const [subject = '', folder, ...flags] = process.argv.slice(2);
const run = SUBJECTS[subject];
if (!run || !folder) {
  console.error(`Usage: npm run likeness -- ${Object.keys(SUBJECTS).join('|')} DIR [--write]`);
  process.exit(2);
}
process.exitCode = await run(folder, { write: flags.includes('--write') });
