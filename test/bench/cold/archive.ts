// The same conversion with an archive that a fresh process inflates: the npm package's own, or LibreOffice's
// tree as one archive.
import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import * as tools from '../../../functions/tools.ts';
import { convertOnce } from './convert-once.ts';

const [name, source, host, archive] = process.argv.slice(2) as [keyof typeof tools, string, string, string];
await (tools[name].source === 'page' ? openPage() : unpackOffice());
process.exit();

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
  const layers = join(tmpdir(), 'layers');
  await mkdir(layers);
  const tar = spawn('tar', ['-x', '-C', layers], { stdio: ['pipe', 'inherit', 'inherit'] });
  const unpacked = new Promise((resolve) => tar.once('exit', resolve));
  await pipeline(createReadStream(archive), createBrotliDecompress(), tar.stdin);
  await unpacked;
  for (const layer of tools[name].sizing.layers) {
    if (layer === 'libreoffice') continue;
    await symlink(join(import.meta.dirname, '../../../dist/layers', layer), join(layers, layer));
  }
  await convertOnce(tools[name], { source, host, layers, ready: Promise.resolve() });
}
