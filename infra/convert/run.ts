import { createReadStream } from 'node:fs';
import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { pageName } from '../../functions/shared/output-name.ts';
import { withAnySignal } from '../../functions/shared/time.ts';
import { Failure, outputsIn, type Service, type ServiceOutput } from './converter.ts';
import type { Input } from './inputs.ts';
import type { Job } from './jobs.ts';
import type { Ledger } from './ledger.ts';

/** Maximum number of attempts while a service is busy. */
const ATTEMPTS = 10;
/** Maximum seconds to wait. A service that asks for more has an account whose quota is used up. */
const MAX_WAIT = 120;
const JSON_ONLY = { Accept: 'application/json' };
const BYTES = { 'Content-Type': 'application/octet-stream' };

interface Watch {
  converted(): void;
  failed(job: Job, failure: Failure): void;
}

/** Runs all jobs, several at the same time. Rejects if the service itself fails, or when `signal` aborts. */
export async function runJobs(
  jobs: readonly Job[],
  { service, ledger, watch, size }: { service: Service; ledger: Ledger; watch: Watch; size: number },
  signal: AbortSignal,
): Promise<void> {
  const waiting = jobs.values();
  const broken = new AbortController();
  const work = async (stop: AbortSignal) => {
    for (const job of waiting) {
      stop.throwIfAborted();
      try {
        ledger.add(job, await convert(job, service, stop));
        watch.converted();
      } catch (thrown) {
        stop.throwIfAborted();
        if (!(thrown instanceof Failure) || thrown.code === 'INVALID_KEY') {
          broken.abort(thrown);
          throw thrown;
        }
        watch.failed(job, thrown);
      }
    }
  };
  await withAnySignal([signal, broken.signal], (stop) =>
    Promise.all(Array.from({ length: size }, () => work(stop))),
  );
}

/** Converts one input and returns the paths of its results. */
async function convert(job: Job, service: Service, signal: AbortSignal): Promise<string[]> {
  const outputs = await request(job, service, signal);
  const paths: string[] = [];
  for (const { url, page } of outputs) {
    const path = page === undefined ? job.to : pageName(job.to, page);
    // A killed run leaves no incomplete result, and the next run overwrites this file.
    const directory = job.isPrinted ? tmpdir() : dirname(path);
    const part = join(directory, job.isPrinted ? `docmill-${process.pid}.part` : `.${basename(path)}.part`);
    await mkdir(directory, { recursive: true });
    try {
      await service.save(url, part, signal);
      if (job.isPrinted) {
        await pipeline(createReadStream(part), process.stdout, { end: false });
        continue;
      }
      // The service's own files are private.
      await chmod(part, 0o666 & ~process.umask());
      await rename(part, path);
    } finally {
      await rm(part, { force: true });
    }
    paths.push(path);
  }
  return paths;
}

async function request(job: Job, service: Service, signal: AbortSignal): Promise<readonly ServiceOutput[]> {
  const { input, query } = job;
  for (let attempt = 1; ; attempt += 1) {
    const name = encodeURIComponent(basename(input.path));
    const call = input.open
      ? {
          query,
          headers: { ...JSON_ONLY, ...BYTES, 'Content-Disposition': `attachment; filename*=UTF-8''${name}` },
        }
      : { query: [...query, { name: 'infile', value: input.id }], headers: JSON_ONLY };
    const reply = await service.send({ ...call, body: await bodyOf(input) }, signal);
    try {
      return outputsIn(reply);
    } catch (thrown) {
      const { retryAfter } = thrown as Failure;
      if (retryAfter === undefined || retryAfter > MAX_WAIT || attempt === ATTEMPTS) throw thrown;
      await setTimeout(1000 * retryAfter, undefined, { signal });
    }
  }
}

async function bodyOf({ open }: Input): Promise<Blob | undefined> {
  try {
    return await open?.();
  } catch (thrown) {
    throw new Failure('SOURCE_UNREACHABLE', `The file cannot be read. (${(thrown as Error).message})`);
  }
}
