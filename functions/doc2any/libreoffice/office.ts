import { ConversionError } from '../../shared/errors.ts';
import type { EngineDependencies } from '../../shared/tool.ts';
import { WorkerPool, type WorkerRequest } from '../../shared/worker/pool.ts';
import { WorkerCrash } from '../../shared/worker/process.ts';
import { type HostReply, type HostRequest, hostCommand, programCommand } from './host.ts';

/** Milliseconds after a bad start in which the warm hosts are not tried again. */
const OUT_OF_ORDER = 5 * 60_000;

/** LibreOffice: up to `size` warm hosts and, only where these do not start, one program a document. */
export function createOffice(
  { layers, temporary, size, sandbox }: Pick<EngineDependencies, 'layers' | 'temporary' | 'size' | 'sandbox'>,
  profile: { readonly arranging: boolean },
) {
  const options = { temporary, size, requests: 500, memory: 900 };
  const place = (home: string) => ({ layers, home, conversions: temporary, sandbox });
  const hosts = new WorkerPool((home) => hostCommand(place(home), profile), options);
  const programs = new WorkerPool((home) => programCommand(place(home)), options);

  /** Epoch milliseconds until when the hosts are not tried. */
  let outOfOrder = 0;

  async function run(request: HostRequest, conversion: WorkerRequest): Promise<HostReply> {
    if (Date.now() < outOfOrder) return programs.run<HostReply>(request, conversion);
    try {
      return await hosts.run<HostReply>(request, conversion);
    } catch (thrown) {
      const cause = thrown instanceof ConversionError ? thrown.cause : undefined;
      // Who failed on a document fails on it in a program of its own, too.
      if (!isBadStart(cause)) throw thrown;
      giveUp(cause);
      return programs.run<HostReply>(request, conversion);
    }
  }

  function giveUp(cause: WorkerCrash): void {
    outOfOrder = Date.now() + OUT_OF_ORDER;
    tellOnce(cause);
  }

  async function warm(): Promise<void> {
    try {
      await hosts.warm();
    } catch (thrown) {
      if (!isBadStart(thrown)) throw thrown;
      giveUp(thrown);
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

let told = false;

/** Tells the operator, once a process. */
function tellOnce(cause: WorkerCrash): void {
  if (told) return;
  told = true;
  process.emitWarning(`The warm office does not start, so each document starts one. ${cause.message}`);
}

function isBadStart(thrown: unknown): thrown is WorkerCrash {
  return thrown instanceof WorkerCrash && thrown.atStart;
}
