import { isSpanContextValid, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { TimedStep } from '../platform/invoke.ts';
import { describe, type Log } from '../shared/log.ts';
import { PRODUCT } from '../shared/product.ts';

/** A finished call, with what its trace contains: neither a URL nor anything else of the request's parameters. */
export interface TracedCall {
  /** W3C trace context of the caller, which the trace becomes a part of. */
  readonly traceparent: string | undefined;
  /** Epoch milliseconds. */
  readonly began: number;
  readonly ended: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** Whether the service failed, rather than the caller. */
  readonly isFailure: boolean;
  readonly steps: readonly TimedStep[];
}

/** Sends traces to a collector. */
export interface Traces {
  record(call: TracedCall): void;
  /** Resolves when everything recorded so far was sent or given up. */
  flush(): Promise<void>;
}

export interface TraceSettings {
  /** Base URL of a collector that accepts OTLP over HTTP. */
  readonly endpoint: string;
  /** Maximum milliseconds for sending once. */
  readonly timeout: number;
  /** Returns further headers as `name=value` pairs, separated by commas. */
  readonly headers?: () => Promise<string | undefined>;
  /** Gets a line if traces could not be sent. */
  readonly log: Log;
}

/** Logs why traces were not sent. */
function reportFailure(log: Log, thrown: unknown): void {
  log('traces not sent', { cause: describe(thrown) }, 'warn');
}

/** Names of spans where they differ from those of the steps. */
const NAMES: Readonly<Record<string, string>> = { convert: 'engine' };
/** Maximum characters of an attribute. Those of the service are shorter. */
const MAX_LENGTH = 128;

/** Opens the connection to a collector. `headers` are `name=value` pairs, separated by commas and percent-encoded. */
export function openExporter({ endpoint, timeout, log }: TraceSettings, headers = ''): Traces {
  const [service, version] = PRODUCT.split('/');
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: timeout,
    headers: Object.fromEntries(
      headers
        .split(',')
        .map((pair) => pair.split('='))
        .filter(([name]) => name?.trim())
        .map(([name, ...value]) => [name!.trim(), decodeURIComponent(value.join('=').trim())]),
    ),
  });
  const processor = new BatchSpanProcessor({
    exporter: reporting(exporter, log),
    exportTimeoutMillis: timeout,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service!, 'service.version': version! }),
    spanLimits: { attributeValueLengthLimit: MAX_LENGTH },
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer(service!);
  return {
    record({ traceparent, began, ended, attributes, isFailure, steps }) {
      const root = tracer.startSpan(
        'router',
        { kind: SpanKind.SERVER, startTime: new Date(began), attributes },
        parentOf(traceparent),
      );
      if (isFailure) root.setStatus({ code: SpanStatusCode.ERROR });
      const context = trace.setSpan(ROOT_CONTEXT, root);
      // A tool has processed hostile content, and its clock may differ.
      const within = (time: number) => new Date(Math.min(ended, Math.max(began, time)));
      for (const { step, at, milliseconds } of steps)
        tracer
          .startSpan(NAMES[step] ?? step, { startTime: within(at) }, context)
          .end(within(at + milliseconds));
      root.end(new Date(ended));
    },
    flush: () => provider.forceFlush({ timeoutMillis: timeout }).catch(() => {}),
  };
}

/** Returns the context of the caller's span, if it is valid. */
function parentOf(traceparent = '') {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  return isSpanContextValid(parent) ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}

/** Reports failures, which OpenTelemetry keeps to itself. */
function reporting(exporter: SpanExporter, log: TraceSettings['log']): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error) reportFailure(log, result.error);
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}
