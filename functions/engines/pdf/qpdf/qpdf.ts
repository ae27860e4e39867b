import type { EngineDependencies } from '../../../shared/tool.ts';
import { nativeEngine } from '../../worker/native.ts';
import { WorkerPool, type WorkerRequest } from '../../worker/pool.ts';
import { type Edit, jobOf } from './job.ts';

export type { Edit, Encryption, Information, Permissions } from './job.ts';

type ConversionRequest = WorkerRequest & { readonly directory: string };

/** Rewrites PDF files in sandboxed qpdf processes, which start with the first edit. */
export interface Qpdf {
  /**
   * Reads `edit.source` and writes `edit.target`. Both must be in the conversion's directory.
   * @throws ConversionError `PASSWORD_REQUIRED`, `WRONG_PASSWORD`, `CORRUPT_SOURCE`, `TIMED_OUT`
   */
  edit(edit: Edit, request: ConversionRequest): Promise<{ readonly pageCount: number }>;
  close(): Promise<void>;
}

/** Creates a pool of up to `size` qpdf processes. The `pdf` layer must be present. */
export function createQpdf(
  dependencies: Pick<
    EngineDependencies,
    'layers' | 'temporary' | 'launcher' | 'size' | 'sandbox' | 'observer'
  >,
): Qpdf {
  const { temporary, launcher, size, observer } = dependencies;
  let pool: WorkerPool | undefined;

  function edit({ source, target, password, information, ...changes }: Edit, request: ConversionRequest) {
    pool ??= new WorkerPool(nativeEngine(dependencies, 'qpdf'), {
      temporary,
      launcher,
      size,
      observer,
      requests: 500,
      memory: 400,
      maxMemory: 1500,
    });
    const job = JSON.stringify(jobOf({ source, target, password, ...changes }));
    // Each file is named separately, because the process only gets the files that are named.
    const { before, overlay, stamp } = changes;
    const message = { source, password, job, before, overlay, stamp, ...information };
    return pool.run<{ pageCount: number }>(message, request);
  }

  return {
    edit,
    close: async () => {
      await pool?.close();
    },
  };
}
