import { createReadStream } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { withAnySignal } from '../../functions/shared/time.ts';
import { Failure, outputsIn, type Service, type ServiceRequest } from './converter.ts';
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
  warned(job: Job, warning: string): void;
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
        const { paths, warnings } = await convert(job, service, ledger.nameOf(job), stop);
        ledger.add(job, paths);
        watch.converted();
        for (const warning of warnings) watch.warned(job, warning);
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

/** Converts one input and returns the paths of its results, and what they lack. */
async function convert(job: Job, service: Service, name: string | undefined, signal: AbortSignal) {
  const { outputs, warnings } = await request(job, service, name, signal);
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
  return { paths, warnings };
}

async function request(job: Job, service: Service, name: string | undefined, signal: AbortSignal) {
  for (let attempt = 1; ; attempt += 1) {
    const reply = await service.send({ ...(await callOf(job)), name }, signal);
    try {
      return outputsIn(reply);
    } catch (thrown) {
      const { retryAfter } = thrown as Failure;
      if (retryAfter === undefined || retryAfter > MAX_WAIT || attempt === ATTEMPTS) throw thrown;
      await setTimeout(1000 * retryAfter, undefined, { signal });
    }
  }
}

/** Returns the call of a job. Several files are sent as a form, whose fields are in the order of the parameters. */
async function callOf({ input, query }: Job): Promise<ServiceRequest> {
  const infile = { name: 'infile', value: input.id, ...(input.open && { input }) };
  if (!query.some((each) => each.input)) {
    if (!input.open) return { query: [...query, infile], headers: JSON_ONLY };
    const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(basename(input.path))}`;
    const headers = { ...JSON_ONLY, ...BYTES, 'Content-Disposition': disposition };
    return { query, headers, body: await bodyOf(input) };
  }
  const body = new FormData();
  for (const { name, value, input: file } of [...query, infile]) {
    if (file) body.append(name, await bodyOf(file), basename(file.path));
    else body.append(name, value);
  }
  return { query: [], headers: JSON_ONLY, body };
}

async function bodyOf({ name, open }: Input): Promise<Blob> {
  try {
    return await open!();
  } catch (thrown) {
    throw new Failure(
      'SOURCE_UNREACHABLE',
      `The file ${name} cannot be read. (${(thrown as Error).message})`,
    );
  }
}
