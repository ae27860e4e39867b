import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Where `npm run deploy` writes the outputs of the stack. */
export const OUTPUTS_FILE = join(import.meta.dirname, '../../dist/aws/outputs.json');

/** Reads the outputs of the only stack in a file that `cdk deploy --outputs-file` has written, or `undefined` if there is none. */
export async function readOutputs(file: string): Promise<Readonly<Record<string, string>> | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const stacks = JSON.parse(text) as Record<string, Record<string, string>>;
  return Object.values(stacks)[0];
}
