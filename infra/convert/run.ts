import { createReadStream } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { withAnySignal } from '../../functions/shared/time.ts';
import { Failure, outputsIn, type Service, type ServiceOutput } from './converter.ts';
import type { Input } from './inputs.ts';
import { type Job, pathOf } from './jobs.ts';
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
    const path = pathOf(job, page);
    const isValid = page === undefined || Number.isSafeInteger(page);
    if (!isValid || paths.includes(path)) throw new Error('The service returned results that it should not.');
    // A killed run leaves no incomplete result, and the next run replaces this file.
    const directory = job.isPrinted ? await mkdtemp(join(tmpdir(), 'docmill-')) : dirname(path);
    const part = join(directory, `.${basename(path)}.part`);
    await mkdir(directory, { recursive: true });
    try {
      // Private until it is complete, and no link.
      await rm(part, { force: true });
      await writeFile(part, '', { flag: 'wx', mode: 0o600 });
      await service.save(url, part, signal);
      if (job.isPrinted) {
        await pipeline(createReadStream(part), process.stdout, { end: false });
        continue;
      }
      await chmod(part, 0o666 & ~process.umask());
      await rename(part, path);
    } finally {
      await rm(job.isPrinted ? directory : part, { recursive: true, force: true });
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
