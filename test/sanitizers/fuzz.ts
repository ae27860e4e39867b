// Fuzzes the native engines, and first converts every document as it is: mutated documents, mutated requests and lines that are no requests. By hand, for longer:
//
//   node test/sanitizers/fuzz.ts --seconds 600 [--seed 1] [--corpus FOLDER]
//
// Inputs after which a sanitizer reported something are kept in dist/test/fuzz.
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { jobOf } from '../../functions/engines/pdf/qpdf.ts';
import { ANNOTATIONS, annotatedPdf, makePdf } from '../fixtures/pdf.ts';
import { buildHosts, HOSTS, type Host, type Outcome, RunningHost } from './hosts.ts';

const ROOT = join(import.meta.dirname, '../..');
const FINDINGS = join(ROOT, 'dist/test/fuzz');
/** Maximum bytes of a document to mutate. Mutating a larger one would mostly change pictures. */
const MAX_SEED_BYTES = 100_000;

export interface Findings {
  /** Requests by host. */
  readonly requests: Record<Host, number>;
  /** Requests that ended the process, as by a crash in a library, by host. */
  readonly ends: Record<Host, number>;
  readonly reports: string[];
}

/** A generator of random numbers that can be repeated (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Random = ReturnType<typeof randomOf>;

/** Numbers at which arithmetic goes wrong. */
const NUMBERS = [
  ...[0, -1, 1, 2, 255, 65_535, 65_536, 10_000_000, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 32, 2 ** 53],
  ...[0.5, 1e-9, 1e300, -1e300],
];
const TEXTS = [
  '',
  'a',
  'rgb',
  'mono',
  'raster',
  'empty',
  '../source',
  '/etc/passwd',
  '\u0000',
  'x'.repeat(5000),
];

function mutateBytes(bytes: Buffer, random: Random): Buffer {
  let mutated = Buffer.from(bytes);
  for (let change = random(8) + 1; change > 0 && mutated.length > 0; change -= 1) {
    const at = random(mutated.length);
    const kind = random(5);
    if (kind === 0) mutated[at] = random(256);
    if (kind === 1) mutated[at]! ^= 1 << random(8);
    if (kind === 2) mutated = Buffer.concat([mutated.subarray(0, at), mutated.subarray(at + random(64))]);
    if (kind === 3) {
      const from = random(mutated.length);
      const copied = mutated.subarray(from, from + random(200));
      mutated = Buffer.concat([mutated.subarray(0, at), copied, mutated.subarray(at)]);
    }
    // A number of the document.
    if (kind === 4) {
      const text = mutated.toString('latin1');
      const number = String(NUMBERS[random(NUMBERS.length)]);
      const next = text.slice(at).search(/\d/);
      if (next >= 0) {
        mutated = Buffer.from(
          text.slice(0, at + next) + text.slice(at + next).replace(/^\d+/, number),
          'latin1',
        );
      }
    }
  }
  return mutated;
}

/** Replaces some values of a request, at any depth. */
function mutateValue(value: unknown, random: Random): unknown {
  if (random(12) === 0) {
    const others = [null, true, [], {}, NUMBERS[random(NUMBERS.length)], TEXTS[random(TEXTS.length)]];
    return others[random(others.length)];
  }
  if (Array.isArray(value)) return value.map((each) => mutateValue(each, random));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mutateValue(each, random)]));
}

const pick = <Value>(values: readonly Value[], random: Random): Value => values[random(values.length)]!;

/** Requests to each host that it can serve. */
function requestOf(host: Host, source: string, random: Random) {
  const document = String(random(1e9));
  if (host === 'qpdf') {
    const target = 'out.pdf';
    const options = pick([{}, { pages: [1] }, { rotate: 90, linearize: true, compress: true }], random);
    const information = pick([{}, { Title: 'Ä title', Author: 'x' }], random);
    return {
      operation: 'edit',
      arguments: { source, job: jobOf({ source, target }, options), information },
    };
  }
  if (host === 'libreoffice') {
    const urls = { source: `file:///proc/self/cwd/${source}`, target: 'file:///proc/self/cwd/out.pdf' };
    const bounds = pick([{}, { maxPages: 100 }, { maxPages: 1, maxSeconds: 1 }], random);
    const given = { ...urls, load: 'Batch=true', filter: 'pdf', save: '', ...bounds };
    return { operation: 'convert', arguments: given };
  }
  const common = { document, source, cropBox: random(2) === 0 };
  const operation = pick(['open', 'draw', 'draw', 'draw', 'text'], random);
  if (operation === 'open') return { operation, arguments: { ...common, from: 1, to: 50 } };
  if (operation === 'text') {
    return {
      operation,
      arguments: { ...common, pages: [1, 2], annotations: random(2) === 0, target: 'out.txt' },
    };
  }
  const [width, height] = [random(300) + 1, random(300) + 1];
  const frames = [1, 2, 1].slice(0, random(3) + 1).map((page) => ({
    page,
    pageWidth: width,
    pageHeight: height,
    left: random(width),
    top: random(height),
    width: random(width) + 1,
    height: random(height) + 1,
    xDensity: 72,
    yDensity: 72,
    ...(random(6) === 0 && { substitute: pick(['raster', 'mayBeEmpty'], random) }),
  }));
  const look = {
    format: pick(['jpg', 'png', 'tiff', 'raw'], random),
    color: pick(['rgb', 'gray', 'mono'], random),
    transparent: random(3) === 0,
    annotations: random(4) > 0,
    trim: random(2) === 0,
    turns: random(4),
    quality: random(100) + 1,
    oneFile: random(2) === 0,
  };
  return { operation, arguments: { ...common, ...look, frames } };
}

/** Lines that are no requests, or hardly. */
function brokenLine(line: string, random: Random): string | Buffer {
  const bytes = mutateBytes(Buffer.from(line), random);
  // A line ends at the first of these.
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10)) bytes[at] = 32;
  return bytes;
}

/** The documents to start from, by host. */
function seedsOf(
  folders: readonly string[],
  max: number,
): Record<Host, ReadonlyArray<readonly [string, Buffer]>> {
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  const read = (wanted: RegExp) =>
    files
      .filter((file) => wanted.test(file))
      .map((file): [string, Buffer] => [`source${extname(file)}`, readFileSync(file)]);
  const made = [
    makePdf([{ text: 'one', field: 'value' }, { text: 'two' }]),
    makePdf([{ rotate: 90 }]),
    annotatedPdf(...ANNOTATIONS),
  ];
  const pdfs = [...made.map((bytes): [string, Buffer] => ['source.pdf', bytes]), ...read(/\.pdf$/)];
  const all = { pdfium: pdfs, qpdf: pdfs, libreoffice: read(/\.(docx?|odt|rtf|xlsx?|ods|pptx?|odp|csv)$/) };
  const few = <Seed>(some: readonly Seed[]) => some.slice(0, max);
  return { pdfium: few(all.pdfium), qpdf: few(all.qpdf), libreoffice: few(all.libreoffice) };
}

/**
 * Sends every document as it is to the hosts, then mutated ones until the time is over, most of them to the hosts that are fast.
 */
export async function fuzz(options: {
  readonly seconds: number;
  readonly seed?: number;
  readonly folders: readonly string[];
  readonly hosts?: readonly Host[];
  /** Documents per host to start from. The default is all. */
  readonly documents?: number;
  log?(text: string): void;
}): Promise<Findings> {
  const { seconds, seed = 1, folders, hosts = HOSTS, documents = Number.POSITIVE_INFINITY } = options;
  const { log = () => {} } = options;
  const root = mkdtempSync(join(tmpdir(), 'fuzz-'));
  const commands = await buildHosts(join(root, 'build'));
  const seeds = seedsOf(folders, documents);
  const count = () => Object.fromEntries(HOSTS.map((host) => [host, 0])) as Record<Host, number>;
  const findings: Findings = { requests: count(), ends: count(), reports: [] };
  let id = 0;

  const run = async (
    host: Host,
    running: RunningHost,
    home: string,
    { change, random }: { change: 'nothing' | 'anything'; random: Random },
  ) => {
    const kind = change === 'nothing' ? 'nothing' : pick(['document', 'document', 'request', 'line'], random);
    const [name, bytes] =
      change === 'nothing' ? seeds[host][findings.requests[host]]! : pick(seeds[host], random);
    const directory = join(home, 'request');
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory);
    const isLarge = bytes.length > MAX_SEED_BYTES;
    const source = kind === 'document' && !isLarge ? mutateBytes(bytes, random) : bytes;
    writeFileSync(join(directory, name), source);
    id += 1;
    const whole = { id, ...requestOf(host, name, random), directory };
    const line = JSON.stringify(
      kind === 'request' ? { ...whole, arguments: mutateValue(whole.arguments, random) } : whole,
    );
    const sent = kind === 'line' ? brokenLine(line, random) : line;
    const outcome: Outcome = await running.send(sent);
    findings.requests[host] += 1;
    if (outcome.ended) findings.ends[host] += 1;
    if (outcome.report === undefined) return;
    findings.reports.push(`${host}: ${outcome.report}`);
    mkdirSync(FINDINGS, { recursive: true });
    const kept = join(FINDINGS, `${host}-${seed}-${id}`);
    writeFileSync(`${kept}.line`, sent);
    copyFileSync(join(directory, name), `${kept}${extname(name)}`);
    log(findings.reports.at(-1)!);
  };

  const work = async (host: Host) => {
    const home = mkdtempSync(join(root, `${host}-`));
    const running = new RunningHost(commands[host], home);
    // A generator per host, so that a host gets the same requests however fast the others are.
    const random = randomOf(seed);
    try {
      for (const _ of seeds[host]) await run(host, running, home, { change: 'nothing', random });
      const end = performance.now() + seconds * 1000;
      while (performance.now() < end) await run(host, running, home, { change: 'anything', random });
    } finally {
      running.stop();
    }
  };
  try {
    await Promise.all(hosts.map(work));
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
  return findings;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '600' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      corpus: { type: 'string', multiple: true, default: [] },
      host: { type: 'string', multiple: true },
    },
  });
  const folders = [
    join(ROOT, 'test/fixtures'),
    join(ROOT, 'infra/local/self-check/samples'),
    ...values.corpus,
  ];
  const found = await fuzz({
    seconds: Number(values.seconds),
    seed: Number(values.seed),
    folders,
    ...(values.host && { hosts: values.host as Host[] }),
    log: (text) => process.stderr.write(`${text}\n`),
  });
  process.stdout.write(`${JSON.stringify({ seed: values.seed, ...found }, undefined, 2)}\n`);
  process.exitCode = found.reports.length > 0 ? 1 : 0;
}
