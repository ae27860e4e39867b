import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type Server, startServer } from './server.ts';

const ROOT = join(import.meta.dirname, '../../..');
const TOOLS = ['pdftools', 'html2pdf', 'html2image', 'imageproc', 'doc2any'];

let server: Server | undefined;
let root: string | undefined;
afterEach(async () => {
  await server?.close();
  if (root !== undefined) rmSync(root, { recursive: true });
});

/** Copies the code, packages and engines by hard links, also from behind a link, and replaces some files by empty programs. */
function breakFiles(patterns: readonly string[]): string {
  const broken = patterns.map((pattern) => {
    const [file] = globSync(pattern, { cwd: ROOT });
    if (file === undefined) throw new Error(`There is no file ${pattern}.`);
    return file;
  });
  // Below `dist`, because hard links do not reach other file systems.
  root = mkdtempSync(join(ROOT, 'dist/broken-'));
  const parts = ['package.json', 'functions', 'infra', 'layers', 'node_modules', 'dist/layers', 'dist/site'];
  execFileSync('cp', ['-al', '-H', '--parents', ...parts, root], { cwd: ROOT });
  // npm 10 installs it as well, and sharp would fall back to it.
  rmSync(join(root, 'node_modules/@img/sharp-wasm32'), { recursive: true, force: true });
  for (const file of broken) {
    rmSync(join(root, file));
    writeFileSync(join(root, file), '', { mode: 0o755 });
  }
  return root;
}

it.each([
  {
    engines: 'PDFium and sharp',
    files: ['dist/layers/pdf/program/pdfium', 'node_modules/@img/sharp-linux-*/lib/*.node'],
    broken: ['pdftools', 'imageproc'],
  },
  {
    engines: 'Chromium and LibreOffice',
    files: ['dist/layers/chromium/chromium', 'dist/layers/libreoffice/program/host'],
    broken: ['html2pdf', 'html2image', 'doc2any'],
  },
])('is 503 and names the tools without $engines, and all others work', async ({ files, broken }) => {
  server = await startServer({ root: breakFiles(files) });
  const rows = new Map(TOOLS.map((tool) => [tool, rowOf(tool, server!.log())]));

  const health = await fetch(`${server.base}/api/health`);

  const states = ((await health.json()) as { tools: Record<string, string> }).tools;
  expect(health.status).toBe(503);
  for (const tool of TOOLS) {
    const isBroken = broken.includes(tool);
    expect([tool, states[tool]]).toEqual([tool, isBroken ? 'down' : 'up']);
    expect([tool, rows.get(tool)!.includes('/files/')]).toEqual([tool, !isBroken]);
  }
  for (const tool of broken)
    await expect
      .poll(server.log)
      .toMatch(new RegExp(`"event":"worker not started","tool":"${tool}","cause":"`));
});

/** The line of the self-check about a tool. */
function rowOf(tool: string, log: string): string {
  return new RegExp(`^${tool} .*$`, 'm').exec(log)?.[0] ?? '';
}
