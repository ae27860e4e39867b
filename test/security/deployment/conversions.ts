import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConversionError } from '../../../functions/shared/errors.ts';
import type { AttackedBrowser } from './deployment.ts';

/** Conversions of an engine in this process. */
export interface Conversions {
  readonly temporary: string;
  /**
   * Converts in a directory of its own, which is deleted afterwards. Returns the result, or the code of the error.
   * @throws if the error has no code.
   */
  run<Result>(convert: (directory: string) => Promise<Result>): Promise<Result | string>;
  /** Deletes the temporary directory. */
  close(): Promise<void>;
}

/** One machine has no Runtime API. */
export const NO_RUNTIME: Pick<AttackedBrowser, 'runtimeApis' | 'visitors'> = {
  runtimeApis: () => [],
  visitors: () => 0,
};

/** Prepares a temporary directory for conversions. */
export async function startConversions(): Promise<Conversions> {
  const temporary = await mkdtemp(join(tmpdir(), 'attacked-'));
  let conversions = 0;
  return {
    temporary,
    async run(convert) {
      const directory = join(temporary, `conversion-${conversions++}`);
      await mkdir(directory);
      try {
        return await convert(directory);
      } catch (thrown) {
        if (thrown instanceof ConversionError && thrown.code !== 'INTERNAL') return thrown.code;
        throw thrown;
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    },
    close: () => rm(temporary, { recursive: true, force: true }),
  };
}
