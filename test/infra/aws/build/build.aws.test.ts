import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { inflateLayers } from '../../../../functions/platform/aws/lambda/inflate-layers.ts';
import * as tools from '../../../../functions/tools.ts';

const DIST = join(import.meta.dirname, '../../../../dist');
const FUNCTIONS = join(DIST, 'aws/functions');
const LAYERS = join(DIST, 'aws/layers');
const MIB = 2 ** 20;
/** Lambda's own limit for a function with its layers, unzipped, is 250 MiB. The rest is for the next update of Chromium. */
const LIMIT = 249 * MIB;
const NAMES = Object.keys(tools);
const LAYER_NAMES = [...new Set<string>(Object.values(tools).flatMap(({ sizing }) => [...sizing.layers]))];

beforeAll(() => {
  execFileSync(process.execPath, [join(import.meta.dirname, '../../../../infra/aws/build/build.ts')], {
    stdio: 'inherit',
  });
}, 900_000);

const filesBelow = (folder: string) =>
  globSync('**', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
const bytesBelow = (folder: string) => filesBelow(folder).reduce((sum, path) => sum + statSync(path).size, 0);

describe('what the stack uploads', () => {
  it.each(Object.values(tools))('is at most 249 MiB for $name with its layers', ({ name, sizing }) => {
    const layers = sizing.layers.map((layer) => bytesBelow(join(LAYERS, layer, layer)));

    const bytes = layers.reduce((sum, size) => sum + size, bytesBelow(join(FUNCTIONS, name)));

    expect(bytes).toBeGreaterThan(MIB);
    expect(bytes / MIB).toBeLessThanOrEqual(LIMIT / MIB);
  });

  it('can be read and run by another user', () => {
    const closed = LAYER_NAMES.flatMap((name) => filesBelow(join(LAYERS, name, name))).filter(
      (path) => ![0o644, 0o755].includes(statSync(path).mode & 0o777),
    );

    expect(closed).toEqual([]);
  });

  it('has a router of at most 1 MB without engines', () => {
    const text = readFileSync(join(FUNCTIONS, 'router/index.mjs'), 'utf8');

    expect(text.length).toBeLessThanOrEqual(1_000_000);
    expect(text).not.toMatch(/puppeteer-core|\/opt\//);
  });

  it.each(NAMES)('contains every script that %s starts, and imports only from its layers', (name) => {
    const folder = join(FUNCTIONS, name);
    const texts = filesBelow(folder)
      .map((path) => readFileSync(path, 'utf8'))
      .join('\n');
    const { layers } = Object.values(tools).find((tool) => tool.name === name)!.sizing;

    for (const [, script] of texts.matchAll(
      /new URL\(["']\.\/([\w-]+\.m?[jt]s)["'],\s*import\.meta\.url\)/g,
    )) {
      expect(filesBelow(folder).map((path) => relative(folder, path))).toContain(script);
    }
    for (const [, path, layer] of texts.matchAll(/["'](\/opt\/(\w+)\/node_modules\/[^"']+)["']/g)) {
      expect(layers).toContain(layer);
      expect(statSync(join(LAYERS, layer!, path!.slice('/opt/'.length))).isFile()).toBe(true);
    }
  });

  it('needs no newer C library than the 2.34 of Lambda, except the layers that bring their own', () => {
    const paths = [
      FUNCTIONS,
      ...LAYER_NAMES.filter((name) => !['libreoffice', 'pdf', 'imagemagick'].includes(name)).map((name) =>
        join(LAYERS, name),
      ),
    ]
      .flatMap(filesBelow)
      .filter(isElf);

    const needs = paths.map((path) => [relative(DIST, path), newestGlibc(path)] as const);

    expect(paths.length).toBeGreaterThan(5);
    expect(needs.filter(([, minor]) => minor > 34)).toEqual([]);
  });

  it.each(LAYER_NAMES)('inflates %s to what was built', async (name) => {
    const into = mkdtempSync(join(tmpdir(), 'inflated-'));
    const source = join(DIST, 'layers', name);

    const { whole } = await inflateLayers(join(LAYERS, name), into);
    await whole;

    const built = filesBelow(source).map((path) => relative(source, path));
    const engines = built.filter((path) => !path.startsWith('licenses/'));
    expect(engines.length).toBeGreaterThan(1);
    const different = engines.filter((path) => hashOf(join(source, path)) !== hashOf(join(into, name, path)));
    rmSync(into, { recursive: true });
    expect(different).toEqual([]);
  });

  it.each(LAYER_NAMES)('names every part of %s with version, hash and license', (name) => {
    const manifest = JSON.parse(readFileSync(join(LAYERS, name, name, 'manifest.json'), 'utf8'));

    expect(manifest.length).toBeGreaterThan(0);
    for (const part of manifest) {
      expect(part).toMatchObject({ name: expect.any(String), version: expect.any(String) });
      expect(part.sha256 ?? part.integrity).toMatch(/^([0-9a-f]{64}|sha512-.{80,})$/);
      expect(part.licenses).toBeInstanceOf(Array);
    }
  });
});

function isElf(path: string): boolean {
  return statSync(path).size > 1000 && readFileSync(path).readUInt32BE(0) === 0x7f454c46;
}

/** The highest minor version of the C library among the symbols that a file needs. */
function newestGlibc(path: string): number {
  const versions = readFileSync(path)
    .toString('latin1')
    .matchAll(/GLIBC_2\.(\d+)/g);
  return Math.max(0, ...[...versions].map(([, minor]) => Number(minor)));
}

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
