import { ConversionError } from '../../shared/errors.ts';
import type { EngineDependencies } from '../../shared/tool.ts';
import { WorkerPool, type WorkerRequest } from '../worker/pool.ts';
import { WorkerCrash } from '../worker/process.ts';
import { type HostReply, type HostRequest, hostCommand, programCommand } from './host.ts';
import type { ProfileOptions } from './profile.ts';

/** Milliseconds after a failed start until the warm hosts are tried again. Each further one doubles the time. */
const FIRST_FALLBACK = 5000;
const LONGEST_FALLBACK = 5 * 60_000;

/** Up to `size` warm LibreOffice hosts. Only if they do not start, each document starts its own program. */
export function createHosts(
  {
    layers,
    temporary,
    launcher,
    size,
    sandbox,
    observer,
  }: Pick<EngineDependencies, 'layers' | 'temporary' | 'launcher' | 'size' | 'sandbox' | 'observer'>,
  profile: ProfileOptions,
) {
  const options = { temporary, launcher, size, requests: 500, memory: 900 };
  const place = (home: string) => ({ layers, home, sandbox });
  // Used while the hosts do not start.
  const hostObserver = observer && { ...observer, failed: observer.degraded, ready: observer.recovered };
  const hosts = new WorkerPool((home) => hostCommand(place(home), profile), {
    ...options,
    observer: hostObserver,
  });
  const programs = new WorkerPool((home) => programCommand(place(home)), { ...options, observer });

  /** Epoch milliseconds until which the hosts are not tried. */
  let fallbackUntil = 0;
  let fallback = FIRST_FALLBACK;

  async function run(request: HostRequest, conversion: WorkerRequest): Promise<HostReply> {
    if (Date.now() < fallbackUntil) return programs.run<HostReply>(request, conversion);
    try {
      const reply = await hosts.run<HostReply>(request, conversion);
      fallback = FIRST_FALLBACK;
      return reply;
    } catch (thrown) {
      const cause = thrown instanceof ConversionError ? thrown.cause : undefined;
      // The host started and then failed on the document. A separate program would fail on it, too.
      if (!isFailedStart(cause)) throw thrown;
      fallBack(cause);
      return programs.run<HostReply>(request, conversion);
    }
  }

  function fallBack(cause: WorkerCrash): void {
    warnOnce(cause);
    // Another request has noticed the same.
    if (Date.now() < fallbackUntil) return;
    fallbackUntil = Date.now() + fallback;
    fallback = Math.min(2 * fallback, LONGEST_FALLBACK);
  }

  async function warm(): Promise<void> {
    try {
      await hosts.warm();
    } catch (thrown) {
      if (!isFailedStart(thrown)) throw thrown;
      fallBack(thrown);
      await programs.warm();
    }
  }

  return {
    run,
    warm,
    close: async () => {
      await Promise.all([hosts.close(), programs.close()]);
    },
  };
}

let warned = false;

/** Warns the operator, once per process. */
function warnOnce(cause: WorkerCrash): void {
  if (warned) return;
  warned = true;
  process.emitWarning(
    `The warm LibreOffice host failed to start, so each document starts its own process. ${cause.message}`,
  );
}

function isFailedStart(thrown: unknown): thrown is WorkerCrash {
  return thrown instanceof WorkerCrash && thrown.atStart;
}
