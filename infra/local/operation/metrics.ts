import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ConversionObserver } from '../../../functions/conversion/handler.ts';
import type { LocalQueue } from '../../../functions/jobs/local-queue.ts';
import type { FreeSpace } from '../../../functions/platform/local/disk-space.ts';
import { ERRORS } from '../../../functions/shared/errors.ts';
import type { WorkerObserver } from '../../../functions/shared/warm-workers.ts';
import type { ToolWork } from '../../../functions/site/operator/overview.ts';

export interface Metrics extends ConversionObserver {
  /** Returns an observer that counts the worker events of a tool. */
  workersOf(tool: string): WorkerObserver;
  /** Counts a request that was answered with an error code. */
  refused(code: string): void;
  /** Counts an email that the mail server did not take. */
  mailFailed(): void;
  /** Reports the age of the engines in days whenever the metrics are read. */
  watchAge(age: () => number): void;
  /** Reports the free space whenever the metrics are read. */
  watchDisk(space: Pick<FreeSpace, 'free' | 'isLow'>): void;
  /** Reports the jobs whenever the metrics are read. */
  watchJobs(queue: Pick<LocalQueue, 'state'>): void;
  /** Returns the current work of each tool. */
  work(): Promise<Readonly<Record<string, ToolWork>>>;
  /** Returns all metrics in the text format of Prometheus. */
  text(): Promise<string>;
}

const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 240];

/** Creates the metrics of one server. Labels never contain data of callers. */
export function createMetrics(tools: readonly string[], build: Readonly<Record<string, string>>): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  // Removes gauges whose names promtool rejects. Their parts remain as metrics without `_total`.
  for (const name of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`nodejs_active_${name}_total`);
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name: `docmill_${name}`, help, labelNames, registers });
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Gauge({ name: `docmill_${name}`, help, labelNames, registers });

  const conversions = counter('conversions_total', 'Conversions that ended, by error code or OK.', [
    'tool',
    'code',
  ]);
  const duration = new Histogram({
    name: 'docmill_conversion_duration_seconds',
    help: 'Duration of the steps of a conversion: queue, download, convert and store.',
    labelNames: ['tool', 'step'],
    buckets: SECONDS,
    registers,
  });
  const inProgress = gauge('conversions_in_progress', 'Conversions in progress, waiting ones included.', [
    'tool',
  ]);
  const queue = gauge('queue_length', 'Conversions that wait for a worker.', ['tool']);
  const sourceBytes = counter('source_bytes_total', 'Bytes of downloaded sources.', ['tool']);
  const resultBytes = counter('result_bytes_total', 'Bytes of stored results.', ['tool']);
  const pages = counter('pages_total', 'Pages of results.', ['tool']);
  const starts = counter(
    'worker_starts_total',
    'Worker processes started: spare (ahead of need) or on demand.',
    ['tool', 'reason'],
  );
  const failures = counter(
    'worker_start_failures_total',
    'Worker processes that ended before they were ready.',
    ['tool'],
  );
  const unsandboxed = counter(
    'engine_unsandboxed_total',
    'Browsers that started without their own sandbox.',
    ['tool'],
  );
  const errors = counter('errors_total', 'Requests that were answered with an error, by code.', ['code']);
  const mails = counter('mail_failures_total', 'Emails that the mail server did not take.', []);
  const workers = gauge('workers', 'Worker processes that are running.', ['tool']);
  gauge('build_info', 'Versions, as labels. Always 1.', Object.keys(build)).set(build, 1);
  for (const code of Object.keys(ERRORS)) errors.inc({ code }, 0);
  for (const tool of tools) {
    // Initialized to 0, so that rates can be computed from the first conversion on.
    conversions.inc({ tool, code: 'OK' }, 0);
    for (const metric of [inProgress, queue, workers]) metric.set({ tool }, 0);
    for (const metric of [sourceBytes, resultBytes, pages, failures, unsandboxed]) metric.inc({ tool }, 0);
  }

  return {
    started: (tool) => inProgress.inc({ tool }),
    ended(tool, code, measured) {
      inProgress.dec({ tool });
      conversions.inc({ tool, code });
      for (const [step, milliseconds] of Object.entries(measured.steps)) {
        duration.observe({ tool, step }, milliseconds / 1000);
      }
      sourceBytes.inc({ tool }, measured.sourceBytes);
      resultBytes.inc({ tool }, measured.resultBytes);
      pages.inc({ tool }, measured.pages);
    },
    workersOf: (tool) => ({
      starting(reason) {
        starts.inc({ tool, reason });
        workers.inc({ tool });
      },
      failed: () => failures.inc({ tool }),
      late: () => failures.inc({ tool }),
      unsandboxed: () => unsandboxed.inc({ tool }),
      ended: () => workers.dec({ tool }),
      waiting: (change) => queue.inc({ tool }, change),
    }),
    refused: (code) => errors.inc({ code }),
    mailFailed: () => mails.inc(),
    watchAge: (age) => {
      const help = 'Days since the oldest layer of engines was built.';
      new Gauge({
        name: 'docmill_engines_age_days',
        help,
        registers,
        collect() {
          this.set(age());
        },
      });
    },
    watchDisk: (space) => {
      new Gauge({
        name: 'docmill_disk_free_bytes',
        help: 'Free bytes on the disk of the data, and on that of temporary files.',
        labelNames: ['disk'],
        registers,
        collect() {
          for (const [disk, bytes] of Object.entries(space.free())) this.set({ disk }, bytes);
        },
      });
      new Gauge({
        name: 'docmill_disk_low',
        help: 'Whether conversions are rejected because a disk has too little free space.',
        registers,
        collect() {
          this.set(Number(space.isLow));
        },
      });
    },
    watchJobs: (jobs) => {
      const facts = {
        jobs_queued: ['Queued jobs.', 'queued'],
        jobs_running: ['Jobs that are running.', 'running'],
        jobs_oldest_seconds: ['Seconds since the oldest queued job was accepted.', 'oldest'],
        webhooks_pending: ['Webhooks whose next attempt is pending.', 'pending'],
        webhooks_failed_total: ['Webhooks that were given up on since the start.', 'failed'],
      } as const;
      for (const [name, [help, fact]] of Object.entries(facts))
        new Gauge({
          name: `docmill_${name}`,
          help,
          registers,
          async collect() {
            this.set((await jobs.state())[fact]);
          },
        });
    },
    work: async () => {
      const [all, waiting, running] = await Promise.all(
        [inProgress, queue, workers].map(async (metric) => {
          const { values } = await metric.get();
          return new Map(values.map(({ labels, value }) => [labels.tool, value]));
        }),
      );
      const now = (tool: string) => {
        const waits = waiting?.get(tool) ?? 0;
        return { running: (all?.get(tool) ?? 0) - waits, waiting: waits, workers: running?.get(tool) ?? 0 };
      };
      return Object.fromEntries(tools.map((tool) => [tool, now(tool)]));
    },
    text: () => registry.metrics(),
  };
}

/** Serves the metrics on the loopback interface only, on any path. */
export async function serveMetrics(metrics: Metrics, port: number) {
  const server = createServer(async (request, response) => {
    if (request.method !== 'GET') return response.writeHead(405, { Allow: 'GET' }).end();
    const text = await metrics.text();
    return response.writeHead(200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
