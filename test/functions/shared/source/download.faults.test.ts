import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'vitest';
import { createEgressGuard } from '../../../../functions/shared/egress/guard.ts';
import { decodeFile } from '../../../../functions/shared/source/decode-file.ts';
import { downloadSource } from '../../../../functions/shared/source/download.ts';
import { RAW_FAULTS, serveRaw } from '../../../helpers/fault-server.ts';

/** Shorter time limits than in production, in the same order. */
const QUICK = { connect: 1000, headers: 800, idle: 600, whole: 1500 };
/** Time limits that a busy machine does not reach. */
const PATIENT = { connect: 60_000, headers: 60_000, idle: 60_000, whole: 60_000 };

// Concurrent, because most of these tests only wait.
it.concurrent.for(Object.entries(RAW_FAULTS))(
  'a source that %s ends in a typed error',
  async ([, { code, answer }], { expect, onTestFinished }) => {
    const directory = await mkdtemp(join(tmpdir(), 'source-'));
    const server = await serveRaw(answer);
    onTestFinished(async () => {
      await server.close();
      await rm(directory, { recursive: true, force: true });
    });

    const failed = downloadSource(server.origin, {
      directory,
      egress: createEgressGuard({ exceptions: [`127.0.0.1:${server.port}`] }),
      limits: { sourceBytes: 1_000_000 },
      signal: AbortSignal.timeout(120_000),
      decode: decodeFile,
      // Others end by themselves, however long a busy machine takes.
      budgets: code === 'SOURCE_TIMEOUT' ? QUICK : PATIENT,
    });

    await expect(failed).rejects.toMatchObject({ name: 'ConversionError', code });
  },
);
