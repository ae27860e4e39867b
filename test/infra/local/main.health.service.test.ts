import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type Server, startServer } from './server.ts';

const ROOT = join(import.meta.dirname, '../../..');
const TOOLS = ['pdftools', 'html2pdf', 'html2image', 'imageproc', 'doc2any'];
const TIME = 180_000;

let server: Server | undefined;
let root: string | undefined;
afterEach(async () => {
  await server?.close();
  if (root !== undefined) rmSync(root, { recursive: true });
});

/** Copies the code, packages and engines by hard links, also from behind a link, and replaces one file by an empty program. */
function breakFile(pattern: string): string {
  const [broken] = globSync(pattern, { cwd: ROOT });
  if (broken === undefined) throw new Error(`There is no file ${pattern}.`);
  // Below `dist`, because hard links do not reach other file systems.
  root = mkdtempSync(join(ROOT, 'dist/broken-'));
  const parts = ['package.json', 'functions', 'infra', 'layers', 'node_modules', 'dist/layers', 'dist/site'];
  execFileSync('cp', ['-al', '-H', '--parents', ...parts, root], { cwd: ROOT });
  rmSync(join(root, broken));
  // npm 10 installs it as well, and sharp would fall back to it.
  rmSync(join(root, 'node_modules/@img/sharp-wasm32'), { recursive: true, force: true });
  writeFileSync(join(root, broken), '', { mode: 0o755 });
  return root;
}

it.each([
  { engine: 'PDFium', file: 'dist/layers/pdf/program/pdfium', broken: ['pdftools'] },
  { engine: 'Chromium', file: 'dist/layers/chromium/chromium', broken: ['html2pdf', 'html2image'] },
  { engine: 'sharp', file: 'node_modules/@img/sharp-linux-*/lib/*.node', broken: ['imageproc'] },
  { engine: 'LibreOffice', file: 'dist/layers/libreoffice/program/host', broken: ['doc2any'] },
])(
  'is 503 and names the tools without $engine, and all others work',
  async ({ file, broken }) => {
    server = await startServer({ root: breakFile(file) });
    const rows = new Map(TOOLS.map((tool) => [tool, rowOf(tool, server!.log())]));

    const health = await fetch(`${server.base}/api/health`);

    const states = ((await health.json()) as { tools: Record<string, string> }).tools;
    expect(health.status).toBe(503);
    for (const tool of TOOLS)
      expect([tool, states[tool]]).toEqual([tool, broken.includes(tool) ? 'down' : 'up']);
    for (const [tool, row] of rows)
      expect([tool, row.includes('/files/')]).toEqual([tool, !broken.includes(tool)]);
    for (const tool of broken)
      await expect
        .poll(server.log)
        .toMatch(new RegExp(`"event":"worker not started","tool":"${tool}","cause":"`));
  },
  2 * TIME,
);

/** The line of the self-check about a tool. */
function rowOf(tool: string, log: string): string {
  return new RegExp(`^${tool} .*$`, 'm').exec(log)?.[0] ?? '';
}
