import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WorkerPool } from '../../../../functions/engines/worker/pool.ts';
import { sandboxedNode } from '../../../../functions/engines/worker/sandbox.ts';
import type { ConversionError } from '../../../../functions/shared/errors.ts';
import { CODE } from '../../../../infra/local/server/temporary.ts';
import { LAYERS } from '../../deployment/layers.ts';
import type { Row } from '../../row.ts';

const SCRIPT = fileURLToPath(new URL('../../attacks/taken-over/page-tables.ts', import.meta.url));
const TESTS = fileURLToPath(new URL('../../..', import.meta.url));
/** 128 GiB, whose page tables take 256 MiB, and milliseconds for which they are kept. */
const ATTACK = { mappings: 64, time: 10_000 };
/** MiB. Node alone takes 60. */
const MAX_MEMORY = 200;

export const pageTables: Row = {
  name: 'page-tables',
  title: 'a compromised engine with 256 MiB of page tables',
  figures: 'how its request ended',
  target: 'memory limit',
  async run() {
    const temporary = await mkdtemp(join(tmpdir(), 'page-tables-'));
    const command = sandboxedNode({ layers: LAYERS, code: [...CODE, TESTS] }, [SCRIPT]);
    const limits = { size: 1, requests: 10, memory: MAX_MEMORY, maxMemory: MAX_MEMORY };
    const pool = new WorkerPool(command, { temporary, ...limits });
    const request = { account: 'a', signal: AbortSignal.timeout(60_000), directory: temporary };
    const ended = await pool.run({ operation: 'read', arguments: ATTACK }, request).then(
      (result) => `kept ${result} mappings`,
      ({ message }: ConversionError) => message,
    );
    await pool.close();
    await rm(temporary, { recursive: true, force: true });
    const isCounted = ended.includes('memory limit');
    return { figure: isCounted ? 'memory limit' : ended, failures: isCounted ? [] : [ended] };
  },
};
