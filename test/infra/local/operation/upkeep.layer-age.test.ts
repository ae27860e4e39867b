import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLog } from '../../../../functions/shared/log.ts';
import { reportLayerAge } from '../../../../infra/local/operation/upkeep.ts';

const DAY = 24 * 3600 * 1000;
let layers: string;
beforeEach(() => {
  layers = mkdtempSync(join(tmpdir(), 'layer-age-'));
});
afterEach(() => rmSync(layers, { recursive: true }));

/** Returns what is logged about layers of these ages in days. */
function reported(ages: readonly number[]): unknown[] {
  const now = Date.now();
  const names = ages.map((days, index) => {
    const name = `layer${index}`;
    mkdirSync(join(layers, name));
    writeFileSync(join(layers, name, '.recipe'), '');
    const seconds = (now - days * DAY - 1000) / 1000;
    utimesSync(join(layers, name, '.recipe'), seconds, seconds);
    return name;
  });
  const lines: string[] = [];
  reportLayerAge(
    layers,
    [...names, 'not-built'],
    createLog((line) => lines.push(line)),
    now,
  );
  return lines.map((line) => JSON.parse(line));
}

it('reports the age of the oldest layer', () => {
  expect(reported([3, 29, 0])).toEqual([expect.objectContaining({ event: 'layers', days: 29 })]);
});

it('warns after 30 days, with the command that updates them', () => {
  expect(reported([1, 30])).toEqual([
    expect.objectContaining({ event: 'layers', days: 30 }),
    expect.objectContaining({
      event: 'layers are old',
      level: 'warn',
      days: 30,
      hint: 'npm run layers -- --update',
    }),
  ]);
});
