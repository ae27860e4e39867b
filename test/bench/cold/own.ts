// One conversion in a fresh process, as in a cold Lambda function: layers as they are uploaded, then the engine.
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateLayers } from '../../../functions/platform/aws/lambda/inflate-layers.ts';
import * as tools from '../../../functions/tools.ts';
import { convertOnce } from './convert-once.ts';

const [name, source, host] = process.argv.slice(2) as [keyof typeof tools, string, string];
const root = join(import.meta.dirname, '../../..');
const into = join(tmpdir(), 'layers');
await mkdir(into);
const rest: Promise<void>[] = [];
for (const layer of tools[name].sizing.layers) {
  const uploaded = join(root, 'dist/aws/layers', layer);
  const form = existsSync(uploaded) ? uploaded : join(root, 'dist/layers');
  rest.push((await inflateLayers(form, into)).whole);
}
await convertOnce(tools[name], { source, host, layers: into, ready: Promise.all(rest) });
process.exit();
