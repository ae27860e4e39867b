import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** File in which `npm run deploy` keeps the outputs of each stack that was deployed from this checkout. */
export const OUTPUTS_FILE = join(import.meta.dirname, '../../dist/aws/outputs.json');

/** The outputs of one stack by name. */
type Outputs = Readonly<Record<string, string>>;

/**
 * Reads the outputs of all stacks from a file that `cdk deploy --outputs-file` has written. Returns none if it does
 * not exist.
 */
export async function readOutputs(file: string): Promise<Readonly<Record<string, Outputs>>> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? {} : (JSON.parse(text) as Record<string, Outputs>);
}
