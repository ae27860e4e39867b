// One conversion in a fresh process: `own TOOL SOURCE HOST` as in a cold Lambda function, with the layers as they are uploaded;
// `archive TOOL SOURCE HOST ARCHIVE` with an archive that the process inflates: the npm package's own, or LibreOffice's tree.
import { spawn } from 'node:child_process';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { inflateLayers } from '../../functions/platform/aws/lambda/inflate-layers.ts';
import { createEgressGuard } from '../../functions/shared/egress/guard.ts';
import type { CreateEngine, Tool } from '../../functions/shared/tool.ts';
import * as tools from '../../functions/tools.ts';
import { LAYERS, startEngine } from '../lab/engine.ts';

const [kind, name, source, host, archive] = process.argv.slice(2) as [
  'own' | 'archive',
  keyof typeof tools,
  string,
  string,
  string,
];
const tool: Tool = tools[name];
const layers = join(tmpdir(), 'layers');
await mkdir(layers);
if (kind === 'own') await convertWith(await inflateUploaded());
else if (tool.source === 'page') await openPage();
else {
  await unpackOffice();
  await convertWith([]);
}
process.exit();

/** Starts the tool's engine and converts once, when all layers are complete. */
async function convertWith(incomplete: ReadonlyArray<Promise<void>>): Promise<void> {
  const { createEngine } = (await import(`../../functions/${name}/convert.ts`)) as {
    createEngine: CreateEngine<Tool>;
  };
  const egress = createEgressGuard({ exceptions: [host] });
  const engine = await startEngine(tool, createEngine, { layers, size: 1, egress });
  await Promise.all([engine.warm(), ...incomplete]);
  await engine.convert(tool.source === 'page' ? new URL(source) : source, { time: 60_000 });
}

async function inflateUploaded(): Promise<Array<Promise<void>>> {
  const rest: Array<Promise<void>> = [];
  for (const layer of tool.sizing.layers) {
    const uploaded = join(LAYERS, '../aws/layers', layer);
    rest.push((await inflateLayers(existsSync(uploaded) ? uploaded : LAYERS, layers)).whole);
  }
  return rest;
}

/** As the package's documentation says. */
async function openPage(): Promise<void> {
  const { default: chromium } = await import('@sparticuz/chromium');
  const { launch } = await import('puppeteer-core');
  const executablePath = await chromium.executablePath();
  const browser = await launch({ executablePath, args: chromium.args, headless: 'shell' });
  const page = await browser.newPage();
  await page.goto(source, { waitUntil: 'networkidle2' });
  if (name === 'html2pdf') await page.pdf({ path: join(tmpdir(), 'page.pdf') });
  else await page.screenshot({ path: join(tmpdir(), 'page.png') });
}

async function unpackOffice(): Promise<void> {
  const tar = spawn('tar', ['-x', '-C', layers], { stdio: ['pipe', 'inherit', 'inherit'] });
  const unpacked = new Promise((resolve) => tar.once('exit', resolve));
  await pipeline(createReadStream(archive), createBrotliDecompress(), tar.stdin);
  await unpacked;
  for (const layer of tool.sizing.layers.filter((each) => each !== 'libreoffice'))
    await symlink(join(LAYERS, layer), join(layers, layer));
}
