import { mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { processTree } from '../../functions/engines/worker/linux/proc.ts';
import { pdftools } from '../../functions/pdftools/tool.ts';
import { createEgressGuard } from '../../functions/shared/egress/guard.ts';
import type { CreateEngine, Tool } from '../../functions/shared/tool.ts';
import * as tools from '../../functions/tools.ts';
import { CODE } from '../../infra/local/server/temporary.ts';
import { useEngine } from '../functions/conversion.ts';
import { engineNetwork } from '../helpers/engine-network.ts';

const SAMPLE = join(import.meta.dirname, '../../infra/local/self-check/samples/report.pdf');
/**
 * Programs that generate code while they run, so that some of their memory is writable and executable. LibreOffice's host
 * generates the functions through which its components call each other.
 */
const COMPILES = ['node', 'chromium', 'host'];

const temporary = mkdtempSync(join(tmpdir(), 'maps-'));
const engines: Array<{ warm?: () => Promise<unknown>; close(): Promise<unknown> }> = [];

/** The mappings of all processes that the engines started, by the name of the program. */
let mappings: ReadonlyMap<string, string>;

const { convert } = useEngine(pdftools, (await import('../../functions/pdftools/convert.ts')).createEngine);

beforeAll(async () => {
  const layers = resolve('dist/layers');
  for (const { name } of Object.values(tools)) {
    const { createEngine } = (await import(`../../functions/${name}/convert.ts`)) as {
      createEngine: CreateEngine<Tool>;
    };
    engines.push(
      createEngine({ layers, code: CODE, temporary, size: 1, ...engineNetwork(createEgressGuard()) }),
    );
  }
  await Promise.all(engines.map((engine) => engine.warm?.()));
  const source = await readFile(SAMPLE);
  // qpdf, and the process of pdf.js, start with the first request that needs them.
  await convert(source, { format: 'pdf' });
  await convert(source, { format: 'webp' });
  const pids = processTree(process.pid).filter((pid) => pid !== process.pid);
  mappings = new Map(pids.flatMap((pid) => describeProcess(pid)));
});

afterAll(async () => {
  await Promise.all(engines.map((engine) => engine.close()));
  rmSync(temporary, { recursive: true });
});

function describeProcess(pid: number): Array<[name: string, maps: string]> {
  try {
    const program = basename(readlinkSync(`/proc/${pid}/exe`));
    // A native engine is started by its own loader, and a Node worker by its script.
    const args = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
    const own = program.startsWith('ld-') ? basename(args[3] ?? '') : program;
    return [[`${own} ${pid}`, readFileSync(`/proc/${pid}/maps`, 'latin1')]];
  } catch {
    // It has ended.
    return [];
  }
}

const programs = () => new Set([...mappings.keys()].map((name) => name.split(' ')[0]));

describe('every running engine', () => {
  it('is among the processes', () => {
    expect([...programs()]).toEqual(expect.arrayContaining(['pdfium', 'qpdf', 'host', 'chromium', 'node']));
  });

  it('has a stack that is not executable', () => {
    const executable = [...mappings].filter(([, maps]) => /^\S+ ..x. .*\[stack\]$/m.test(maps));

    expect(executable.map(([name]) => name)).toEqual([]);
  });

  it('has no memory that is both writable and executable, unless it compiles code', () => {
    const native = [...mappings].filter(([name]) => !COMPILES.includes(name.split(' ')[0]!));
    const both = native.filter(([, maps]) => /^\S+ .wx/m.test(maps));

    expect(native.length).toBeGreaterThan(1);
    expect(both.map(([name]) => name)).toEqual([]);
  });
});
