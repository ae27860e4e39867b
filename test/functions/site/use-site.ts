import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import axe from 'axe-core';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Tool } from '../../../functions/shared/tool.ts';
import { writeSite } from '../../../functions/site/build.ts';
import { type ApiCall, callOf, snippetOf } from '../../../functions/site/client/service.ts';
import * as tools from '../../../functions/tools.ts';
import { quarters } from '../../fixtures/image.ts';
import { makePdf, numberedPages } from '../../fixtures/pdf.ts';
import { isInstalled } from '../../helpers/processes.ts';
import { useService } from '../../service/use-service.ts';
import { startMailServer } from './mail-server.ts';
import { drop, ended as endedAt, useBrowser } from './use-browser.ts';

const run = promisify(execFile);
export const ALL = Object.values<Tool>(tools);
export const NAMES = ALL.map(({ name }) => name);
const exampleOf = (name: string) => ALL.find((tool) => tool.name === name)!.example;

/** Starts a service with a site, and opens its pages. */
export async function useSite() {
  await writeSite();
  const sources: Readonly<Record<string, Buffer | string>> = {
    'letter.docx': await readFile(join(import.meta.dirname, '../../fixtures/office/text.docx')),
    'page.html': '<!doctype html><title>Page</title><h1>Hello</h1>',
    'picture.png': await quarters(40, 30).png().toBuffer(),
    'report.pdf': makePdf(numberedPages(3)),
  };
  const mailServer = await startMailServer();
  const data = mkdtempSync(join(tmpdir(), 'site-data-'));
  const used = useService(() => sources, {
    DATA_DIR: data,
    DEMO_PER_ADDRESS: '100',
    DEMO_PER_HOUR: '100',
    SIGN_UP: 'open',
    SMTP_URL: mailServer.url,
  });
  const base = () => used().service.base;
  const page = useBrowser(() => [base()]);
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'site-'));
    await Promise.all(
      Object.entries(sources).map(([name, bytes]) => writeFile(join(directory, name), bytes)),
    );
  });
  afterAll(async () => {
    await mailServer.close();
    for (const folder of [directory, data]) rmSync(folder, { recursive: true, force: true });
  });

  const open = async (path: string) => {
    await page().goto(`${base()}${path}`, { waitUntil: 'load' });
  };
  const ended = () => endedAt(page());
  const enterKey = () =>
    page().$eval('#apikey', (input, key) => ((input as HTMLInputElement).value = key), used().service.apiKey);
  const callText = () => page().$eval('#call', ({ textContent }) => textContent!);

  /** Converts a source of a tool that is dropped on its page, and returns the status. */
  async function convertDropped(name: string): Promise<string> {
    const file = exampleOf(name).infile;
    await open(`/try#app=${name}`);
    await enterKey();
    await drop(page(), file, Buffer.from(sources[file]!));
    await page().click('#convert');
    const { status } = await ended();
    expect(await callText()).toContain(`-T './${file}'`);
    return status;
  }

  /** Checks that a page is accessible in light and dark, and that it fits a phone. */
  async function checkAccess(): Promise<void> {
    for (const value of ['light', 'dark']) {
      await page().emulateMediaFeatures([
        { name: 'prefers-color-scheme', value },
        { name: 'prefers-reduced-motion', value: 'reduce' },
      ]);
      await page().setViewport({ width: value === 'light' ? 1440 : 360, height: 800 });
      const found = await page().evaluate(
        `(() => { ${axe.source}; return axe.run({ resultTypes: ['violations'] }); })()`,
      );
      const { violations } = found as {
        violations: Array<{ id: string; nodes: Array<{ html: string; failureSummary: string }> }>;
      };
      expect(violations.map(({ id, nodes: [first] }) => [id, first!.html, first!.failureSummary])).toEqual(
        [],
      );
      expect(await page().evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    }
  }

  /** Checks a page with all of its parts open. */
  async function checkWholePage(path: string): Promise<void> {
    await open(path);
    await page().evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true;
    });
    await checkAccess();
  }

  /** Runs the programs that the page shows for a call, and downloads the results that they print. */
  async function runPrograms(call: ApiCall): Promise<void> {
    const env = { ...process.env, API_KEY: used().service.apiKey };
    await Promise.all(
      RUNNABLE.map(async (way) => {
        const [program, ...args] = PROGRAMS[way];
        const text = snippetOf(way, call).replace('<?php', '');
        const { stdout } = await run(program, [...args, text], { cwd: directory, env });
        const response = await fetch(stdout.replace('[Output] ', '').replace('<br>', '').trim());
        await response.arrayBuffer();
        expect([way, response.status]).toEqual([way, 200]);
      }),
    );
  }

  /** Runs the programs that convert a URL with a tool. */
  async function runProgramsOf(name: string): Promise<void> {
    const { infile: file, outfile } = exampleOf(name);
    await runPrograms(
      callOf({ app: name, infile: used().sources.urlOf(file), outfile, options: new Map() }, base()),
    );
  }

  const file = (name: string) => join(directory, name);
  const helpers = { open, ended, enterKey, callText, convertDropped, checkAccess, checkWholePage };
  return { used, base, page, data, mailServer, sources, file, ...helpers, runPrograms, runProgramsOf };
}

const PROGRAMS = {
  curl: ['sh', '-c'],
  JavaScript: [process.execPath, '--input-type=module', '-e'],
  Python: ['python3', '-c'],
  PHP: ['php', '-r'],
} as const;
const RUNNABLE = (['curl', 'JavaScript', 'Python', 'PHP'] as const).filter((way) =>
  isInstalled(PROGRAMS[way][0]),
);
