import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as tools from '../../../../functions/tools.ts';
import {
  SAMPLES,
  type SampleServer,
  sampleQuery,
  serveSamples,
} from '../../../../infra/local/self-check/samples.ts';
import { readPdf } from '../../../helpers/pdf.ts';

const FOLDER = join(import.meta.dirname, '../../../../infra/local/self-check/samples');

describe('the samples', () => {
  it('are one for each tool', () => {
    expect(SAMPLES.map(({ tool }) => tool).sort()).toEqual(Object.keys(tools).sort());
  });

  it.each(SAMPLES)('are small: $infile', async ({ infile }) => {
    expect((await stat(join(FOLDER, infile))).size).toBeLessThan(150_000);
  });

  it('include a report of twelve pages', async () => {
    const { pages } = await readPdf(await readFile(join(FOLDER, 'report.pdf')));

    expect(pages).toHaveLength(12);
    expect(pages[8]!.text).toContain('September');
  });

  it('include a picture with transparency', async () => {
    const { hasAlpha } = await sharp(join(FOLDER, 'picture.png')).metadata();
    const { isOpaque } = await sharp(join(FOLDER, 'picture.png')).stats();

    expect([hasAlpha, isOpaque]).toEqual([true, false]);
  });

  it('include a self-contained page', async () => {
    const page = await readFile(join(FOLDER, 'page.html'), 'utf8');

    expect(page).not.toMatch(/https?:|src=|url\(|@import/);
  });
});

describe('the server of the samples', () => {
  let server: SampleServer;
  beforeAll(async () => {
    server = await serveSamples();
  });
  afterAll(() => server.close());

  it('serves the samples, and nothing else', async () => {
    const ask = async (path: string) => (await fetch(`http://${server.host}/${path}`)).status;

    expect(await Promise.all(SAMPLES.map(({ infile }) => ask(infile)))).toEqual(SAMPLES.map(() => 200));
    expect(await Promise.all(['', 'none', '..%2Fmain.ts', '%2e%2e/main.ts'].map(ask))).not.toContain(200);
  });

  it('is part of calls that a shell does not change', () => {
    const queries = SAMPLES.map((sample) => sampleQuery(sample, server.host, 'KEY'));

    for (const query of queries) {
      expect(query).toContain(`infile=http://${server.host}/`);
      expect(query).not.toMatch(/[!"`\\ ]/);
    }
  });
});
