import { describe } from '../shared/log.ts';
import type { TraceSettings, Traces } from './trace-exporter.ts';

/** Sends traces as OpenTelemetry. Loads its packages with the first call, so that they do not delay the start. */
export function createTraces(settings: TraceSettings): Traces {
  let loaded: Promise<Traces> | undefined;
  const open = async (): Promise<Traces> => {
    const { openExporter } = await import('./trace-exporter.ts');
    return openExporter(settings, await settings.headers?.());
  };
  const failed = (thrown: unknown) => {
    loaded = undefined;
    settings.log('traces not sent', { cause: describe(thrown) }, 'warn');
  };
  return {
    record(call) {
      loaded ??= open();
      loaded.then((traces) => traces.record(call)).catch(failed);
    },
    flush: async () => (await loaded?.catch(() => undefined))?.flush(),
  };
}
