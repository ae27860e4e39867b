import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { SAMPLES, SAMPLES_FOLDER } from '../../infra/local/self-check/samples.ts';
import type { Emulator } from './emulator.ts';
import { FunctionPool } from './function-pool.ts';
import { publicAddress } from './network.ts';
import type { FunctionDefinition } from './sandbox.ts';

const ROOT = join(import.meta.dirname, '../..');
const ROUNDS = 5;
const ROUTER_CALLS = 40;

/**
 * Prints, for each function: unzipped size, time of a cold and of a warm request, memory; and the same with the browser as
 * packed in its npm package.
 */
export async function measure(
  emulator: Emulator,
  print: (line: string) => void,
  { coldFiles, processorShares }: { readonly coldFiles: boolean; readonly processorShares: boolean },
): Promise<void> {
  print(
    `processors: ${processorShares ? '1 for each 1769 MiB' : 'all'}; files: ${coldFiles ? 'cold' : 'cached'}`,
  );
  const sources = createServer((request, response) => {
    if (request.url?.endsWith('.html')) response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(readFileSync(join(SAMPLES_FOLDER, basename(request.url ?? ''))));
  });
  await new Promise<void>((resolve) => sources.listen(0, '127.0.0.1', resolve));
  const place = publicAddress((sources.address() as AddressInfo).port);
  const call = async ({ tool: app, infile, outfile }: (typeof SAMPLES)[number]) => {
    const query = new URLSearchParams({
      apikey: emulator.apiKey,
      app,
      infile: `${place}/${infile}`,
      outfile,
    });
    const started = performance.now();
    const body = await (await fetch(`${emulator.base}/api/?${query}`)).text();
    if (!body.startsWith('[Output] ')) throw new Error(`${app}: ${body}`);
    return performance.now() - started;
  };
  const row = async (title: string, size: number, each: (typeof SAMPLES)[number]) => {
    const pool = emulator.functions.get(each.tool)!;
    const [cold, coldProcessor]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      pool.cool();
      if (coldFiles) dropFiles(emulator.definitions.get(each.tool)!);
      cold.push(await call(each));
      coldProcessor.push(pool.processor);
    }
    const [warm, warmProcessor]: [number[], number[]] = [[], []];
    for (let round = 0; round < 2 * ROUNDS; round++) {
      warm.push(await call(each));
      warmProcessor.push(pool.processor);
    }
    const cells = [title.padEnd(34), `${(size / 2 ** 20).toFixed(1).padStart(6)} MiB`];
    print(
      [
        ...cells,
        `cold ${best(cold)} ms at best, ${median(cold)} median, ${median(coldProcessor)} of CPU`,
        `warm ${best(warm)}, ${median(warm)}, ${median(warmProcessor)}`,
        `${Math.round(pool.memory)} MiB used`,
      ].join('  '),
    );
  };

  const image = SAMPLES.find(({ tool }) => tool === 'imageproc')!;
  await call(image);
  await measureRouter(emulator, () => call(image), print);
  for (const each of SAMPLES) await row(each.tool, sizeOf(emulator.definitions.get(each.tool)!), each);
  for (const each of SAMPLES.filter(({ tool }) => tool.startsWith('html'))) {
    const { packed, remove } = asPackage(emulator.definitions.get(each.tool)!);
    const own = emulator.functions.get(each.tool)!;
    emulator.functions.set(each.tool, new FunctionPool(packed, emulator.host));
    await row(`${each.tool}, npm package's brotli`, sizeOf(packed), each);
    emulator.functions.get(each.tool)!.cool();
    emulator.functions.set(each.tool, own);
    remove();
  }
  sources.closeAllConnections();
  sources.close();
}

/** Lambda's share of a CPU by MiB: 1769 MiB are a full CPU. */
const shareOf = (memory: number) => memory / 1769;

/**
 * Prints the CPU time of the router, and the resulting duration with the share of a CPU that Lambda assigns
 * for its memory.
 */
async function measureRouter(
  emulator: Emulator,
  call: () => Promise<number>,
  print: (line: string) => void,
): Promise<void> {
  const pool = emulator.functions.get('router')!;
  const cold: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    pool.cool();
    await call();
    cold.push(pool.processor);
  }
  let warm = 0;
  for (let round = 0; round < ROUTER_CALLS; round++) {
    await call();
    warm += pool.processor / ROUTER_CALLS;
  }
  const sizes = [256, 512, 1024].map((memory) => `${memory} MiB: ${Math.round(warm / shareOf(memory))} ms`);
  print(
    `router  cold ${median(cold)} ms of CPU  warm ${warm.toFixed(1)} ms of CPU (${sizes.join(', ')})  ${Math.round(pool.memory)} MiB used`,
  );
}

/**
 * The same function with the browser as in its npm package: compressed with brotli, and inflated into `/tmp`
 * at the start.
 */
function asPackage(definition: FunctionDefinition) {
  const folder = mkdtempSync(join(tmpdir(), 'packed-'));
  cpSync(definition.code, join(folder, 'code'), { recursive: true });
  cpSync(join(folder, 'code/index.mjs'), join(folder, 'code/own.mjs'));
  writeFileSync(
    join(folder, 'code/index.mjs'),
    `import { createReadStream, createWriteStream, mkdirSync } from 'node:fs';
    import { pipeline } from 'node:stream/promises';
    import { createBrotliDecompress } from 'node:zlib';
    mkdirSync('/tmp/layers/chromium', { recursive: true });
    const target = createWriteStream('/tmp/layers/chromium/chromium', { mode: 0o755 });
    await pipeline(createReadStream('/opt/package/chromium.br', { highWaterMark: 1 << 23 }), createBrotliDecompress({ chunkSize: 1 << 21 }), target);
    export const { handler } = await import('./own.mjs');`,
  );
  const layers = definition.layers.map((layer) => {
    if (layer.name !== 'chromium') return layer;
    cpSync(layer.folder, join(folder, 'chromium'), {
      recursive: true,
      filter: (path) => !path.endsWith('/chromium/chromium/chromium'),
    });
    return { name: 'chromium', folder: join(folder, 'chromium') };
  });
  const archive = { name: 'package', folder: join(ROOT, 'node_modules/@sparticuz/chromium/bin') };
  const packed = { ...definition, code: join(folder, 'code'), layers: [...layers, archive] };
  return { packed, remove: () => rmSync(folder, { recursive: true }) };
}

/** Removes the files of a function from the page cache, as on a machine that has just downloaded it and needs its memory. */
function dropFiles({ code, layers }: FunctionDefinition): void {
  const drop = ['dd', 'if={}', 'iflag=nocache', 'count=0', 'status=none'];
  const folders = [code, ...layers.map(({ folder }) => folder)];
  execFileSync('find', [...folders, '-type', 'f', '-exec', ...drop, ';'], { stdio: 'ignore' });
}

function sizeOf({ code, layers }: FunctionDefinition): number {
  const files = [code, ...layers.map(({ folder }) => folder)].flatMap((folder) =>
    globSync('**', { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile()),
  );
  return files.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

function best(values: readonly number[]): string {
  return String(Math.round(Math.min(...values))).padStart(5);
}

function median(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  return String(Math.round(sorted[Math.floor(sorted.length / 2)]!)).padStart(5);
}
