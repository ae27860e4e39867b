import { setTimeout } from 'node:timers/promises';
import { describe, type Log } from '../../../shared/log.ts';
import type { Engine, Tool } from '../../../shared/tool.ts';

/** Starts an engine and waits up to `time` milliseconds for it. Logs why it could not be started. */
export async function warmEngine(engine: Pick<Engine<Tool>, 'warm'>, log: Log, time: number): Promise<void> {
  const started = engine.warm?.().catch((error: unknown) => {
    log('engine not started', { cause: describe(error) }, 'error');
  });
  await Promise.race([started, setTimeout(time)]);
}
