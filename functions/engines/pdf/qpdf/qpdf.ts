import { relative } from 'node:path';
import type { EngineDependencies } from '../../../shared/tool.ts';
import { type ClientDependencies, EngineClient } from '../../client.ts';
import type { WorkerRequest } from '../../worker/pool.ts';
import { nativeEngine } from '../../worker/sandbox.ts';
import { PASSWORD_MESSAGES } from '../messages.ts';
import { type Edit, jobOf, type PdfFile } from './job.ts';

/** Rewrites PDF files in sandboxed qpdf processes, which start on the first edit. */
export interface Qpdf {
  /**
   * Reads `source` and writes `target`. All files must be in the conversion's directory.
   * @throws ConversionError `PASSWORD_REQUIRED`, `WRONG_PASSWORD`, `CORRUPT_SOURCE`, `TIMED_OUT`
   */
  edit(
    source: PdfFile,
    target: string,
    edit: Edit,
    request: WorkerRequest,
  ): Promise<{ readonly pageCount: number }>;
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

  function edit({ path, password }: PdfFile, target: string, edit: Edit, request: WorkerRequest) {
    const nameOf = (file: string) => relative(request.directory, file);
    const inputs = new Set<string>();
    const input = (file: string) => {
      const name = nameOf(file);
      inputs.add(name);
      return name;
    };
    const [source, output] = [input(path), nameOf(target)];
    const { information = {} } = edit;
    const update = edit.update === undefined ? undefined : input(edit.update);
    // The job changes the updated source, which is not encrypted.
    const updated = `${output}.updated`;
    const files = update === undefined ? { source, password } : { source: updated };
    const job = jobOf({ ...files, target: output }, edit, input);
    const args = { source, password, update, updated, job, information };
    return client.run<{ pageCount: number }>(
      { operation: 'edit', arguments: args, inputs: [...inputs], outputs: [output] },
      request,
    );
  }

  return { edit, close: () => client.close() };
}
