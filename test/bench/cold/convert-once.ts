import { copyFile, mkdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createEgressGuard } from '../../../functions/shared/egress/guard.ts';
import { readOptions } from '../../../functions/shared/options/read-options.ts';
import { CONVERSION_LIMITS, type CreateEngine, type Tool } from '../../../functions/shared/tool.ts';
import { CODE } from '../../../infra/local/server/temporary.ts';
import { engineNetwork } from '../../helpers/engine-network.ts';

interface Dependencies {
  /** File, or URL for a tool that opens pages. */
  readonly source: string;
  /** `host:port` of the page's server. */
  readonly host: string;
  readonly layers: string;
  /** Resolves when the layers are complete. */
  readonly ready: Promise<unknown>;
}

/** Starts a tool's engine and converts one source with it. The engine exits with the process. */
export async function convertOnce(tool: Tool, { source, host, layers, ready }: Dependencies): Promise<void> {
  const { createEngine } = (await import(`../../../functions/${tool.name}/convert.ts`)) as {
    createEngine: CreateEngine<Tool>;
  };
  const temporary = tmpdir();
  const egress = createEgressGuard({ exceptions: [host] });
  const engine = createEngine({ layers, code: CODE, temporary, ...engineNetwork(egress), size: 1 });
  await Promise.all([engine.warm?.(), ready]);

  const directory = join(temporary, 'conversion');
  await mkdir(directory);
  const path = join(directory, 'source');
  if (tool.source === 'file') await copyFile(source, path);
  const { outputs } = await engine.convert({
    source:
      tool.source === 'page'
        ? new URL(source)
        : { path, name: basename(source), contentType: '', bytes: (await stat(path)).size },
    options: readOptions(tool, []).options,
    format: tool.formats[0]!,
    delivery: 'one',
    directory,
    limits: CONVERSION_LIMITS,
    signal: AbortSignal.timeout(60_000),
    account: 'bench',
  } as unknown as Parameters<typeof engine.convert>[0]);
  for await (const output of outputs) await stat(output.path);
}
