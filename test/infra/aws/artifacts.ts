import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tools from '../../../functions/tools.ts';

/** Creates a folder with an almost empty function and layer in place of each that the build writes. */
export function createArtifacts(): { readonly artifacts: string; remove(): void } {
  const artifacts = mkdtempSync(join(tmpdir(), 'artifacts-'));
  const layers = new Set(Object.values(tools).flatMap(({ sizing }) => [...sizing.layers]));
  for (const path of [
    ...['router', 'jobs', 'site', ...Object.keys(tools)].map((name) => `functions/${name}`),
    ...[...layers].map((name) => `layers/${name}`),
  ]) {
    mkdirSync(join(artifacts, path), { recursive: true });
    writeFileSync(join(artifacts, path, 'index.mjs'), path);
  }
  writeFileSync(join(artifacts, 'version.json'), '{}');
  return { artifacts, remove: () => rmSync(artifacts, { recursive: true }) };
}
