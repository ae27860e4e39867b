import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sandboxedCommand } from '../../../../functions/engines/chromium/browser/browser.ts';
import { launcherIn } from '../../../../functions/engines/worker/linux/limits.ts';
import { listProcesses, readProcess } from '../../../../functions/engines/worker/linux/proc.ts';
import { type WorkerCommand, WorkerPool } from '../../../../functions/engines/worker/pool.ts';
import { findSandboxGaps, sandboxedNode } from '../../../../functions/engines/worker/sandbox.ts';
import { CODE } from '../../../../infra/local/server/temporary.ts';
import { ATTACKS, type Target } from '../../attacks/taken-over/engine.ts';
import { LAYERS } from '../../deployment/layers.ts';
import type { Reached, Row } from '../../row.ts';

const ENGINE = fileURLToPath(new URL('../../attacks/taken-over/engine.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const CODE_AND_TESTS = [...CODE, join(ROOT, 'test')];
/** Attacks that succeed in a browser, because it starts itself again for each page and looks for its own processes. */
const OF_A_BROWSER: readonly string[] = ['list processes', 'start this program again'];

/** Attacks from an engine in which a hostile file runs its own code. `test/layers/sandbox` tests its system calls. */
export const takenOverEngine: Row = {
  name: 'taken-over-engine',
  title: 'a compromised engine',
  figures: 'attacks on another account that succeed',
  target: '0',
  run: () => {
    const command = sandboxedNode({ layers: LAYERS, code: CODE_AND_TESTS }, [ENGINE, '--serve']);
    return attack(command, []);
  },
};

/** The same from inside the sandbox around Chromium, without Chromium's own, which root does not have. */
export const takenOverBrowser: Row = {
  name: 'taken-over-browser',
  title: 'a compromised browser',
  target: `0 but ${OF_A_BROWSER.length}`,
  run: () => {
    const command = (home: string): WorkerCommand => {
      // As in functions/engines/chromium/browser/serve.ts.
      const own = join(home, 'browser');
      mkdirSync(own);
      const sandbox = { layers: LAYERS, home: own, ports: [1], namespaces: false };
      const [enter, ...args] = sandboxedCommand(sandbox, process.execPath, CODE_AND_TESTS);
      return { command: enter, args: [...args, '--openssl-config=/dev/null', ENGINE, '--serve', own] };
    };
    return attack(command, OF_A_BROWSER);
  },
};

async function attack(
  command: (home: string) => WorkerCommand,
  allowed: readonly string[],
): Promise<Reached> {
  const gaps = findSandboxGaps(LAYERS);
  if (gaps.files || gaps.calls) {
    return { figure: 'not run', failures: [], skipped: 'this kernel does not provide the full sandbox' };
  }
  const root = await mkdtemp(join(tmpdir(), 'taken-over-'));
  const [temporary, data] = [join(root, 'temporary'), join(root, 'data')];
  for (const folder of [temporary, data]) await mkdir(folder, { mode: 0o700 });
  writeFileSync(join(data, 'docmill.db'), 'keys');
  const homes: string[] = [];
  const pool = new WorkerPool(
    (home) => {
      homes.push(home);
      return command(home);
    },
    { temporary, launcher: launcherIn(LAYERS), size: 2, requests: 1000, memory: 500 },
  );
  const [victim, own] = ['conversion-victim', 'conversion-own'].map((name) =>
    mkdtempSync(join(temporary, name)),
  );
  writeFileSync(join(victim!, 'source'), 'private');
  const signal = AbortSignal.timeout(300_000);
  const failures: string[] = [];
  const codes = new Map<string, number>();
  try {
    // The other account's engine, started by a request of that account and then idle.
    const idle = { operation: 'attack', arguments: { attack: 'list processes', target: {} } };
    await pool.run(idle, { account: 'victim', directory: victim!, signal });
    const target: Target = {
      victim: victim!,
      victimHome: homes[0]!,
      victimPid: pidOf(homes[0]!),
      temporary,
      data,
      layers: LAYERS,
    };
    for (const attack of Object.keys(ATTACKS)) {
      const request = { operation: 'attack', arguments: { attack, target } };
      const { worked, code: error = '' } = await pool.run<{ worked: boolean; code?: string }>(request, {
        account: 'attacker',
        directory: own!,
        signal,
      });
      if (worked && !allowed.includes(attack)) failures.push(attack);
      codes.set(error, (codes.get(error) ?? 0) + 1);
    }
    if (readFileSync(join(victim!, 'source'), 'utf8') !== 'private') failures.push('the source was changed');
    if ((statSync(join(victim!, 'source')).mode & 0o777) === 0o777) failures.push('the mode was changed');
  } finally {
    await pool.close();
    await rm(root, { recursive: true, force: true });
  }
  const told = [...codes].map(([error, count]) => `${count} × ${error || 'worked'}`).join(', ');
  return { figure: `${failures.length} of ${Object.keys(ATTACKS).length} (${told})`, failures };
}

/** The process whose home this is. */
function pidOf(home: string): number {
  const pid = listProcesses().find((each) => readProcess(each, 'environ').includes(`HOME=${home}\0`));
  if (pid === undefined) throw new Error('The other engine does not run.');
  return pid;
}
