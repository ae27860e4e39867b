import { join, resolve } from 'node:path';
import { ConversionError } from '../../shared/errors.ts';
import type { ConversionLimits } from '../../shared/tool.ts';
import type { Work } from '../protocol.ts';
import { WorkerPool, type WorkerRequest } from '../worker/pool.ts';
import { nativeEngine, type ProgramDependencies } from '../worker/sandbox.ts';

/** Runs ImageMagick's command line in sandboxed processes, one per call. None is started before the first call. */
interface Magick {
  /**
   * Runs `magick` with arguments that name files relative to the conversion's directory. The arguments must be
   * checked before, although the sandbox restricts the process to those files. An image larger than `limits.pixels`
   * is an error of kind `resource`. Returns whether it warned of a damaged image, which it reads as far as possible.
   * @throws MagickError, ConversionError `TIMED_OUT`, `CONVERSION_FAILED`
   */
  run(
    args: readonly string[],
    files: Pick<Work, 'inputs' | 'outputs'>,
    request: MagickRequest,
  ): Promise<{ readonly isDamaged: boolean }>;
  close(): Promise<void>;
}

type MagickRequest = WorkerRequest & { readonly limits: Pick<ConversionLimits, 'pixels'> };

/** Severities of MagickCore/exception.h: errors start at 400 and fatal errors at 700. */
const ERROR = 100;
const FIRST_ERROR = 400;
const [RESOURCE, OPTION, CACHE] = [0, 10, 45];

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

/** Creates up to `size` processes. The `imagemagick` layer must be present. */
export function createMagick(dependencies: ProgramDependencies): Magick {
  const layer = resolve(dependencies.layers, 'imagemagick');
  const command = nativeEngine(dependencies, {
    layer: 'imagemagick',
    program: 'imagemagick',
    environment: (home) => environmentOf(layer, home),
  });
  const limits = { requests: 1, cost: 30, memory: 500, maxMemory: 1900 };
  const client = new WorkerPool(command, { ...dependencies, ...limits });

  return {
    run: async (args, files, request) => {
      const words = ['magick', '-limit', 'area', String(request.limits.pixels), ...args];
      const outcome = await client.run<Outcome>(
        { operation: 'run', arguments: { words }, ...files },
        request,
      );
      if (outcome.severity >= FIRST_ERROR) throw new MagickError(outcome.severity, outcome.reason);
      return { isDamaged: outcome.corrupt };
    },
    close: () => client.close(),
  };
}

interface Outcome {
  readonly severity: number;
  readonly reason: string;
  readonly corrupt: boolean;
}

function environmentOf(layer: string, home: string): Readonly<Record<string, string>> {
  return {
    MAGICK_CONFIGURE_PATH: join(layer, 'config'),
    MAGICK_CODER_MODULE_PATH: join(layer, 'coders'),
    MAGICK_TEMPORARY_PATH: home,
    LIBHEIF_PLUGIN_PATH: join(layer, 'heif'),
  };
}

/** Converts an error of an edit into an error for the caller. */
export function editError(thrown: unknown): unknown {
  if (!(thrown instanceof MagickError)) return thrown;
  const cause = { cause: thrown };
  switch (thrown.kind) {
    case 'option':
      return new ConversionError('BAD_PARAMETER', 'ImageMagick rejected the value of an operator.', cause);
    case 'resource':
      return new ConversionError(
        'RESULT_TOO_LARGE',
        'The operators need more memory than allowed. Use a smaller image.',
        cause,
      );
    case 'image':
      return new ConversionError('CONVERSION_FAILED', 'ImageMagick could not apply the operators.', cause);
    default:
      return thrown.kind satisfies never;
  }
}
