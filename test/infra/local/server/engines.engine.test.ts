import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { it } from 'vitest';
import { launcherIn } from '../../../../functions/engines/worker/linux/limits.ts';
import { WarmWorkers } from '../../../../functions/shared/warm-workers.ts';
import * as tools from '../../../../functions/tools.ts';
import { loadEngines } from '../../../../infra/local/server/engines.ts';
import { CODE } from '../../../../infra/local/server/temporary.ts';
import { engineNetwork } from '../../../helpers/engine-network.ts';

/** Deletes its first argument and fails, or runs the others if there is no such file. */
const FAIL_ONCE = 'rm "$0" 2>/dev/null && exit 1; exec "$@"';
/** Maximum milliseconds until an engine that failed once works again. It takes 6 s unless the machine is busy. */
const RESTART_TIME = 60_000;

it.concurrent.for(Object.values(tools))(
  'is up again without a call after a program of $name failed once',
  { timeout: 300_000 },
  async (tool, { expect }) => {
    const temporary = await mkdtemp(join(tmpdir(), 'docmill-test-'));
    const [failure, layers] = [join(temporary, 'fail'), resolve('dist/layers')];
    const warm = new WarmWorkers(1000);
    const engines = await loadEngines(
      [tool],
      {
        layers,
        code: CODE,
        temporary,
        launcher: ['/bin/sh', '-c', FAIL_ONCE, failure, ...launcherIn(layers)],
        size: 1,
        warm,
        ...engineNetwork(),
        put: async () => {
          throw new Error('Nothing is converted.');
        },
        log: () => {},
      },
      () => ({}),
    );
    const health = async () => (await engines.health())[tool.name];

    for (const pool of warm.pools) {
      await writeFile(failure, '');
      await expect(pool.warm()).rejects.toThrow('exit');
      await expect.poll(health, { timeout: RESTART_TIME, interval: 500 }).toBe('up');
      await pool.warm();
    }

    expect(warm.pools.size).toBeGreaterThan(1);
    await engines.close();
    await rm(temporary, { recursive: true });
  },
);
