import { join, resolve } from 'node:path';
import { ConversionError } from '../../shared/errors.ts';
import type { EngineDependencies, Limits } from '../../shared/tool.ts';
import { nativeEngine } from '../worker/native.ts';
import { WorkerPool, type WorkerRequest } from '../worker/pool.ts';

/** Runs ImageMagick's command line in sandboxed processes, one for each call. They start with the first call. */
export interface Magick {
  /**
   * Runs `magick` with these arguments. `files` are the inputs among them; they and the outputs must be in the conversion's
   * directory. Arguments must be checked before: the process can read no other files, whatever they say.
   * An image larger than `limits.pixels` is an error of kind `resource`.
   * @throws MagickError, ConversionError `TIMED_OUT`, `CONVERSION_FAILED`
   */
  run(args: readonly string[], files: readonly string[], request: MagickRequest): Promise<void>;
  close(): Promise<void>;
}

type MagickRequest = WorkerRequest & { readonly limits: Pick<Limits, 'pixels'> };

/** ImageMagick reported an error. The message is for the log only. */
export class MagickError extends Error {
  override readonly name = 'MagickError';
  readonly kind: 'option' | 'resource' | 'image';

  constructor(severity: number, reason: string) {
    super(`ImageMagick: ${reason.trim()} (${severity})`);
    const kind = severity % ERROR;
    this.kind = kind === OPTION ? 'option' : kind === RESOURCE || kind === CACHE ? 'resource' : 'image';
  }
}

/** Severities of MagickCore/exception.h: errors start at 400 and fatal errors at 700. */
const ERROR = 100;
const FIRST_ERROR = 400;
const [RESOURCE, OPTION, CACHE] = [0, 10, 45];

/** Between arguments, where no argument can contain it. */
const SEPARATOR = '\u001f';

/** Creates a pool of up to `size` processes. The `imagemagick` layer must be present. */
export function createMagick(
  dependencies: Pick<
    EngineDependencies,
    'layers' | 'temporary' | 'launcher' | 'size' | 'sandbox' | 'observer'
  >,
): Magick {
  const { temporary, launcher, size, observer } = dependencies;
  const layer = resolve(dependencies.layers, 'imagemagick');
  const engine = nativeEngine(dependencies, 'imagemagick', { layer: 'imagemagick' });
  let pool: WorkerPool | undefined;

  async function run(args: readonly string[], files: readonly string[], request: MagickRequest) {
    pool ??= new WorkerPool(
      (home) => {
        const command = engine(home);
        return { ...command, environment: { ...command.environment, ...environment(layer, home) } };
      },
      { temporary, launcher, size, observer, requests: 1, memory: 500, maxMemory: 1900 },
    );
    const limits = ['-limit', 'area', String(request.limits.pixels)];
    const text = [...limits, ...args].map((arg) => `${arg}${SEPARATOR}`).join('');
    // Each file is named separately, because the process only gets the files that are named.
    const outcome = await pool.run<Outcome>({ arguments: text, files }, request);
    if (outcome.severity >= FIRST_ERROR) throw new MagickError(outcome.severity, outcome.reason);
  }

  return {
    run,
    close: async () => {
      await pool?.close();
    },
  };
}

interface Outcome {
  readonly severity: number;
  readonly reason: string;
}

function environment(layer: string, home: string): Readonly<Record<string, string>> {
  return {
    MAGICK_CONFIGURE_PATH: join(layer, 'config'),
    MAGICK_CODER_MODULE_PATH: join(layer, 'coders'),
    MAGICK_TEMPORARY_PATH: home,
    LIBHEIF_PLUGIN_PATH: join(layer, 'heif'),
  };
}

/** Converts an error of an edit into one for the caller. */
export function editError(thrown: unknown): unknown {
  if (!(thrown instanceof MagickError)) return thrown;
  const cause = { cause: thrown };
  switch (thrown.kind) {
    case 'option':
      return new ConversionError('BAD_PARAMETER', 'ImageMagick rejected the value of an operator.', cause);
    case 'resource':
      return new ConversionError(
        'RESULT_TOO_LARGE',
        'The operators need more memory than is allowed.',
        cause,
      );
    case 'image':
      return new ConversionError('CONVERSION_FAILED', 'ImageMagick could not apply the operators.', cause);
    default:
      return thrown.kind satisfies never;
  }
}
