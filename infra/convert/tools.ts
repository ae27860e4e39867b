import { chooseTool } from '../../functions/engines/choose-tool.ts';
import { HEAD_BYTES } from '../../functions/shared/source/file-kind.ts';
import type { Tool } from '../../functions/shared/tool.ts';
import type { Input } from './inputs.ts';

/** Chooses the tool for a file. Returns `undefined` for a URL, whose content only the service reads. */
export async function toolForFile(
  { path, open }: Input,
  target: Parameters<typeof chooseTool>[1],
  tools: readonly Tool[],
): Promise<Tool | undefined> {
  if (!open) return undefined;
  const head = Buffer.from(await (await open()).slice(0, HEAD_BYTES).arrayBuffer()).toString('latin1');
  return chooseTool({ head, name: path, contentType: '' }, target, tools);
}
