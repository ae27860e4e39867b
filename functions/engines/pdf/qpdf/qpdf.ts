import { relative } from 'node:path';
import type { EngineDependencies } from '../../../shared/tool.ts';
import { type ClientDependencies, EngineClient } from '../../client.ts';
import type { WorkerRequest } from '../../worker/pool.ts';
import { nativeEngine } from '../../worker/sandbox.ts';
import { PASSWORD_MESSAGES } from '../messages.ts';
import { type Edit, jobOf } from './job.ts';

export type { Edit, Encryption, Information, Permissions } from './job.ts';

/** Rewrites PDF files in sandboxed qpdf processes, which start on the first edit. */
export interface Qpdf {
  /**
   * Reads `edit.source` and writes `edit.target`. All files must be in the conversion's directory.
   * @throws ConversionError `PASSWORD_REQUIRED`, `WRONG_PASSWORD`, `CORRUPT_SOURCE`, `TIMED_OUT`
   */
  edit(edit: Edit, request: WorkerRequest): Promise<{ readonly pageCount: number }>;
  close(): Promise<void>;
}

const MESSAGES = {
  ...PASSWORD_MESSAGES,
  CORRUPT_SOURCE: () => 'The PDF is damaged and could not be rewritten.',
};

/** Creates up to `size` qpdf processes. The `pdf` layer must be present. */
export function createQpdf(
  dependencies: ClientDependencies & Pick<EngineDependencies, 'layers' | 'sandbox'>,
): Qpdf {
  const command = nativeEngine(dependencies, { layer: 'pdf', program: 'qpdf' });
  const limits = { requests: 500, cost: 10, memory: 400, maxMemory: 1500 };
  const client = new EngineClient({ command, ...limits, messages: MESSAGES }, dependencies);

  function edit({ information = {}, update: changes, ...edit }: Edit, request: WorkerRequest) {
    const relativePath = (path: string) => relative(request.directory, path);
    const optional = (path: string | undefined) => (path === undefined ? undefined : relativePath(path));
    const [source, target] = [relativePath(edit.source), relativePath(edit.target)];
    const others = {
      before: optional(edit.before),
      overlay: optional(edit.overlay),
      stamp: optional(edit.stamp),
    };
    const update = optional(changes);
    const merge = edit.merge?.map((part) => ({ ...part, file: relativePath(part.file) }));
    const attachments = edit.attachments?.map((each) => ({ ...each, file: relativePath(each.file) }));
    const attach = edit.attach?.map((each) => ({ ...each, file: relativePath(each.file) }));
    // The job changes the updated source, which is not encrypted.
    const updated = `${target}.updated`;
    const input = update === undefined ? { source } : { source: updated, password: undefined };
    const job = jobOf({ ...edit, ...input, target, merge, attachments, attach, ...others });
    const merged = [...(merge ?? []), ...(attachments ?? []), ...(attach ?? [])].map(({ file }) => file);
    return client.run<{ pageCount: number }>(
      {
        operation: 'edit',
        arguments: { source, password: edit.password, update, updated, job, information },
        inputs: [
          ...new Set([
            source,
            ...merged,
            ...Object.values({ ...others, update }).filter((name) => name !== undefined),
          ]),
        ],
        outputs: [target],
      },
      request,
    );
  }

  return { edit, close: () => client.close() };
}
