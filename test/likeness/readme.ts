import { join } from 'node:path';
import { writeMeasured } from '../report/section.ts';

/** Writes a comparison into its section of the README in this folder. */
export function writeLikeness(name: string, text: string): void {
  writeMeasured(join(import.meta.dirname, 'README.md'), name, () => text);
}
