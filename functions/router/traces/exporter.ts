import { isSpanContextValid, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import { PRODUCT } from '../../shared/product.ts';
import { reportFailure, type TraceSettings, type Traces } from './traced-call.ts';

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
