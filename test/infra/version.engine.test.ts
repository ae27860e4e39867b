import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { readVersion } from '../../infra/version.ts';

it('names the version of the service and of every engine', () => {
  const { version, engines, built } = readVersion((layer) => `dist/layers/${layer}`);

  expect(version).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
  expect(Object.keys(engines).sort()).toEqual(['chromium', 'libreoffice', 'node', 'pdfium', 'sharp']);
  expect(built).toMatch(/^20\d\d-\d\d-\d\d$/);
  expect(engines).toMatchObject({ sharp: sharp.versions.sharp, node: process.versions.node });
  for (const engine of Object.values(engines)) expect(engine).toMatch(/^(\d+:)?\d+\.\d/);
});
