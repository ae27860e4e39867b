import { Readable } from 'node:stream';
import { parameterNames, readRequest } from '../../../functions/conversion/request.ts';
import { servedPath } from '../../../functions/engines/chromium/proxy/served-files.ts';
import { authenticate } from '../../../functions/router/admission/authenticate.ts';
import { traceOf } from '../../../functions/router/call.ts';
import { corsHeaders } from '../../../functions/router/endpoints.ts';
import { decodeQuery, JSON_PATH } from '../../../functions/router/http.ts';
import { presentationOf } from '../../../functions/router/reply.ts';
import { createCoalescer } from '../../../functions/router/reuse.ts';
import { route } from '../../../functions/router/route.ts';
import { openBody } from '../../../functions/router/uploads/body.ts';
import { MAX_FIELD_BYTES } from '../../../functions/router/uploads/multipart.ts';
import { createEgressGuard } from '../../../functions/shared/egress/guard.ts';
import { ConversionError } from '../../../functions/shared/errors.ts';
import { describe } from '../../../functions/shared/log.ts';
import type { Option, Parameter } from '../../../functions/shared/options/option.ts';
import { takesSource } from '../../../functions/shared/options/sources.ts';
import { quote } from '../../../functions/shared/quote.ts';
import { readDataUrl } from '../../../functions/shared/source/data-url.ts';
import { dispositionName, mediaTypeIn } from '../../../functions/shared/source/file.ts';
import { CONVERSION_LIMITS, type Tool } from '../../../functions/shared/tool.ts';
import { sessionIn } from '../../../functions/site/accounts/forms.ts';
import * as tools from '../../../functions/tools.ts';
import { readSignedUrl } from '../../../infra/local/server/http/signed-url.ts';
import { unlimited } from '../../functions/accounts.ts';
import { randomNumbers } from '../../helpers/random.ts';
import { amount, type Row } from '../row.ts';

/** Maximum milliseconds that a stage may block the main thread, whatever the input is. */
const MAX_COST = 10;

/** Maximum characters of a header, as in the server, and bytes of a name in an archive. */
const HEADER_LENGTH = 8192;
const MAX_NAME_BYTES = 65_535;

const ALL = Object.values(tools);
const OPTIONS = ALL.flatMap((tool) => Object.values(tool.options).flatMap(({ names }) => names));

const PATHS = [
  '/api/',
  '/api/usage',
  '/api/health',
  '/api/version',
  '/api/openapi.json',
  '/api/none',
] as const;
const FOREVER = new AbortController().signal;
const DEPENDENCIES: Parameters<typeof route>[1] = {
  ...unlimited,
  tools: ALL,
  keys: { find: async () => undefined, findSigner: async () => undefined },
  storage: undefined as never,
  invoke: () => Promise.reject(new Error('No request has a key.')),
  coalesce: createCoalescer(),
  limits: CONVERSION_LIMITS,
  contact: { accountUrl: 'http://a.example/', supportUrl: 'http://a.example/' },
  log: () => {},
};

interface Stage {
  readonly names: readonly string[];
  readonly run: (genes: Genes) => void;
  /** Maximum number of characters, if it is not that of a query. */
  readonly size?: number;
}

/** The main thread runs these for each request before it is handed to a worker. Each comes with the names that it knows. */
const STAGES: Readonly<Record<string, Stage>> = {
  ...Object.fromEntries(
    ALL.map((tool) => [
      `options of ${tool.name}`,
      {
        names: ['-unknown', '_args', ...Object.values(tool.options).flatMap(({ names }) => names)],
        run: (genes: Genes) => {
          readRequest([...basics(tool.name), ...pairsOf(genes)], ALL);
        },
      },
    ]),
  ),
  'common parameters': {
    names: ['app', 'infile', 'outfile', 'apikey', '_args', 'other'],
    run: (genes) => {
      const given = basics('imageproc').filter(({ name }) => name !== genes.name);
      readRequest([...given, ...pairsOf(genes)], ALL);
    },
  },
  'order of options': {
    names: ['-resize', '-crop', '-annotate', '-fill', '_args'],
    run: (genes) => {
      readRequest([...basics('imageproc'), ...pairsOf(genes)], ALL, { unordered: Number.POSITIVE_INFINITY });
    },
  },
  'form in a body': {
    names: ['infile', '-unknown', '--custom-header', '_args'],
    size: MAX_FIELD_BYTES,
    run: (genes) => {
      const given = basics('html2pdf').filter(({ name }) => name !== genes.name);
      readRequest([...given, ...pairsOf(genes)], ALL, { canUpload: true });
    },
  },
  'requests without a key': {
    names: [...PATHS],
    run: (genes) => {
      const query = [...basics('imageproc'), { name: genes.unit, value: textWith(genes) }];
      const path = genes.name;
      // All that it does before it waits for something.
      route({ method: 'GET', path, query, header: () => textWith(genes) }, DEPENDENCIES, FOREVER);
    },
  },
  'data URL': {
    names: ['data:,', 'data:;base64,', 'data:;'],
    size: MAX_FIELD_BYTES,
    run: (genes) => {
      readDataUrl(genes.name + textWith(genes));
    },
  },
  query: {
    names: ['a', '-resize', '%25'],
    run: (genes) => {
      const query = pairsOf(genes).map(({ name, value }) => `${name}=${value}`);
      for (const _ of URL.parse(`/api/?${query.join('&')}`, 'http://a.example')?.searchParams ?? []);
    },
  },
  'signed URL': {
    names: ['expires', 'signature', 'a'],
    run: (genes) => {
      const query = pairsOf(genes).map(({ name, value }) => `${name}=${value}`);
      readSignedUrl(
        new URL(`http://a.example/files/${textWith(genes)}?expires=1&signature=1&${query.join('&')}`),
      );
    },
  },
  headers: {
    names: ['accept', 'cookie', 'authorization', 'x-request-id', 'traceparent', 'origin', 'x-forwarded-for'],
    size: HEADER_LENGTH,
    run: (genes) => {
      const header = (name: string) => (name === genes.name ? textWith(genes) : undefined);
      const http = { method: 'GET', path: '/', query: [], header };
      presentationOf(http, 'x');
      traceOf(http);
      corsHeaders(http, ['http://a.example']);
      sessionIn(http, 'http://a.example');
      authenticate(http, DEPENDENCIES.keys);
    },
  },
  'names of sources and uploads': {
    names: ['', 'attachment; filename=', "attachment; filename*=UTF-8''", 'inline; '],
    size: MAX_NAME_BYTES,
    run: (genes) => {
      const text = genes.name + textWith(genes);
      dispositionName(text);
      servedPath(text);
      mediaTypeIn(text);
    },
  },
  'URL of a source': {
    names: ['http://', 'https://', 'http://a.', 'http://1.', 'http://[::'],
    run: (genes) => {
      // All that it does before it waits for something.
      createEgressGuard({ resolve: () => Promise.reject(new Error('no name')) })
        .check(genes.name + textWith(genes))
        .catch(() => {});
    },
  },
  'log of an error': {
    names: ['http://a', 'word '],
    run: (genes) => {
      describe(new Error((genes.name + textWith(genes)).repeat(genes.count)));
      quote(textWith(genes));
    },
  },
};

export const worstInput: Row = {
  name: 'worst-input',
  title: 'the worst input for each stage, found by search',
  figures: 'milliseconds of the main thread',
  target: `≤ ${MAX_COST}`,
  async run(effort) {
    const tries = amount(effort, 500, { all: 1500 });
    const random = randomNumbers(29);
    const worst = Object.entries(STAGES).map(([stage, { names, run, size }]) => {
      return { stage, found: searchWorst(names, run, { tries, random, size }) };
    });
    const all = worst.map(({ found }) => found[0]!.cost);
    const failures = worst.flatMap(({ stage, found }) =>
      found.filter(({ cost }) => cost > MAX_COST).map((each) => `${stage}: ${textOf(each)}`),
    );
    const notes = worst.flatMap(({ stage, found }) => [
      `${stage}:`,
      ...found.map((each) => `  ${textOf(each)}`),
    ]);
    return { figure: `${Math.max(...all).toFixed(1)} of ${all.length} stages`, failures, notes };
  },
};

function basics(app: string, outfile = 'x.png'): Parameter[] {
  const given = { app, infile: 'http://a.example/?a=1', outfile };
  return Object.entries(given).map(([name, value]) => ({ name, value }));
}

function pairsOf(genes: Genes): Parameter[] {
  const value = textWith(genes);
  // Unknown names differ, or only the first would be reported.
  const isKnown = OPTIONS.includes(genes.name);
  return Array.from({ length: genes.count }, (_, index) => ({
    name: isKnown || index === 0 ? genes.name : `${genes.name}${index}`,
    value,
  }));
}

function textOf({ cost, genes: { name, unit, length, count } }: Found): string {
  return `${cost.toFixed(2)} ms: ${count} × ${name} with ${length} characters of ${JSON.stringify(unit)}`;
}

/** An input, as the search varies it: so many pairs of a name and a value that repeats a unit. */
interface Genes {
  readonly name: string;
  readonly unit: string;
  readonly length: number;
  readonly count: number;
}

interface Found {
  readonly genes: Genes;
  /**
   * Milliseconds of the fastest of several runs, because the first are not compiled yet, and some are interrupted. Not processor time,
   * which some kernels count in steps of 4 ms.
   */
  readonly cost: number;
}

/** Maximum length of a query in characters. */
const QUERY_SIZE = 60_000;
const MAX_PAIRS = 600;
const RUNS = 5;
/** The worst inputs are run more often at the end: on a busy machine, all of the first runs may have been interrupted. */
const FINAL_RUNS = 50;
/** Long runs of one of these make parsers repeat their work. */
const UNITS = [
  'a',
  '0',
  '-',
  ' ',
  ',',
  '/',
  '(',
  '%',
  '.',
  'x1',
  '0x',
  '1,',
  '-a ',
  "'",
  '\\',
  'é',
  ':',
  '@',
  '<',
  '%41',
  ';',
  '-resize 1 ',
  '\u0301',
  '\u0301\u0323',
  'application/json;',
  'W/"a",',
  '0-1,',
  'a=b; ',
];

/** Searches for the input that costs `stage` most. Tries random ones first, and then variations of the worst. */
function searchWorst(
  names: readonly string[],
  stage: (genes: Genes) => void,
  { tries, random, size = QUERY_SIZE }: { tries: number; random: () => number; size?: number | undefined },
): Found[] {
  const pick = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)]!;
  const fit = (genes: Genes): Genes => {
    const count = Math.max(1, Math.min(MAX_PAIRS, Math.floor(size / (genes.name.length + 2)), genes.count));
    const left = Math.floor(size / count) - genes.name.length - 2;
    return { ...genes, count, length: Math.max(0, Math.min(left, genes.length)) };
  };
  const randomGenes = (): Genes => ({
    name: pick(names),
    unit: pick(UNITS),
    length: Math.floor(size ** random()),
    count: Math.floor(10 ** (3 * random())),
  });
  const vary = (genes: Genes): Genes =>
    pick([
      () => ({ ...genes, name: pick(names) }),
      () => ({ ...genes, unit: pick(UNITS) }),
      () => ({ ...genes, length: 2 * genes.length }),
      () => ({ ...genes, count: 2 * genes.count, length: genes.length / 2 }),
    ])();

  let worst: Found[] = [];
  for (let attempt = 0; attempt < tries; attempt++) {
    const genes = fit(attempt % 2 === 0 || worst.length === 0 ? randomGenes() : vary(pick(worst).genes));
    const cost = costOf(() => stage(genes), RUNS);
    const others = worst.filter((found) => JSON.stringify(found.genes) !== JSON.stringify(genes));
    worst = [...others, { genes, cost }].toSorted((a, b) => b.cost - a.cost).slice(0, 10);
  }
  return worst
    .map(({ genes }) => ({ genes, cost: costOf(() => stage(genes), FINAL_RUNS) }))
    .toSorted((a, b) => b.cost - a.cost);
}

/** Returns the text that genes describe. */
function textWith({ unit, length }: Genes): string {
  return unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
}

function costOf(run: () => void, times: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let runs = 0; runs < times; runs++) {
    const started = performance.now();
    try {
      run();
    } catch (thrown) {
      // A refusal costs time too. Anything else is a mistake of the stage.
      if (!(thrown instanceof ConversionError)) throw thrown;
    }
    least = Math.min(least, performance.now() - started);
  }
  return least;
}

/** Maximum milliseconds that reading the parameters of a request may take. */
const MAX_READ = 5;
const SIZES = [60_000, 200_000, 1_000_000];
/** Long values that parsers read slowly: letters of two bytes, signs, lists, nesting and repeats. */
const PATTERNS = [
  'é',
  '+',
  '%',
  ',',
  '0',
  '1,',
  '1-,',
  '[',
  '{"a":',
  ' ',
  'a:',
  '\\n',
  'x1',
  '\u0301',
  '<b>',
  '-a ',
];
const COUNTS = [1, 20, 480];
/** Size of the chunks of a body in bytes. */
const CHUNK = 65_536;

/** Encodes parameters as clients do, and returns what the main thread does to read them. */
type Encoding = (tool: string, pairs: readonly Parameter[]) => () => unknown;

const read = (app: string, pairs: readonly Parameter[]) => {
  const isPdf = ALL.some(({ name, formats }) => name === app && formats.some((format) => format === 'pdf'));
  const common = basics(app, isPdf ? 'x.pdf' : 'x.png').filter(({ name }) => name !== pairs[0]?.name);
  return readRequest([...common, ...pairs], ALL, { canUpload: true });
};

const ENCODINGS: Readonly<Record<string, Encoding>> = {
  query: (tool, pairs) => {
    const text = encoded(pairs);
    return () => read(tool, decodeQuery(text));
  },
  form: (tool, pairs) => bodyReader(tool, 'application/x-www-form-urlencoded', encoded(pairs)),
  JSON: (tool, pairs) => {
    const byName = [...Map.groupBy(pairs, ({ name }) => name)];
    const fields = byName.map(([name, all]) => [name, all.map(({ value }) => value)]);
    return bodyReader(tool, 'application/json', JSON.stringify(Object.fromEntries(fields)));
  },
  multipart: (tool, pairs) => {
    const fields = pairs.map(
      ({ name, value }) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    return bodyReader(tool, 'multipart/form-data; boundary=b', `${fields.join('')}--b--\r\n`);
  },
  _args: (tool, pairs) => {
    const value = pairs.map((pair) => `${pair.name} '${pair.value}'`).join(' ');
    return () => read(tool, [{ name: '_args', value }]);
  },
  auto: (_, pairs) => () => read('auto', pairs),
};

function encoded(pairs: readonly Parameter[]): string {
  return new URLSearchParams(pairs.map(({ name, value }): [string, string] => [name, value])).toString();
}

const NAMES = parameterNames(ALL);

function bodyReader(tool: string, type: string, text: string): () => Promise<unknown> {
  const bytes = Buffer.from(text);
  const path = type === 'application/json' ? JSON_PATH : '/api/';
  const header = (name: string) => (name === 'content-type' ? type : undefined);
  const rest = { method: 'POST', path, query: [], header, maySendSource: true, names: NAMES };
  return async () => {
    const chunks = Array.from({ length: Math.ceil(bytes.length / CHUNK) }, (_, index) =>
      bytes.subarray(index * CHUNK, (index + 1) * CHUNK),
    );
    const content = Readable.from(chunks, { objectMode: false });
    const request = { ...rest, body: content, takesSource: (name: string) => takesSource(ALL, name) };
    const body = await openBody(request, { name: 'a', hasKey: false }, FOREVER);
    body.close();
    return read(tool, body.parameters);
  };
}

interface Cost {
  readonly what: string;
  readonly cost: number;
}

/**
 * Returns the processor time of the main thread in milliseconds, of the fastest of `times` runs. Repeats only a slow run, because
 * its code may not be compiled yet.
 */
async function timeOf(run: () => unknown, times = 6): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let runs = 0; runs < times && least > MAX_READ; runs += 1) {
    const started = process.threadCpuUsage();
    try {
      await run();
    } catch (thrown) {
      if (!(thrown instanceof ConversionError)) throw thrown;
    }
    const { user, system } = process.threadCpuUsage(started);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

const repeated = (name: string, count: number, pattern: string, size: number): Parameter[] => {
  const length = Math.floor(size / count / pattern.length);
  return Array.from({ length: count }, () => ({ name, value: pattern.repeat(length) }));
};

/** Reads each option of a tool with each pattern, and some in each encoding. */
async function readEvery({ name: app, options }: Tool, isSlow: (cost: Cost) => void): Promise<void> {
  const names = Object.values(options).flatMap((option) => option.names);
  for (const name of names)
    for (const pattern of PATTERNS)
      for (const size of SIZES) {
        const pairs = repeated(name, 1, pattern, size);
        const cost = await timeOf(() => read(app, pairs));
        isSlow({ what: `${app} ${name}: ${size} characters of ${JSON.stringify(pattern)}`, cost });
      }
  const some = [
    names[0]!,
    ...Object.values(options).flatMap((option) => (option.repeatable ? option.names[0]! : [])),
  ];
  for (const [encoding, send] of Object.entries(ENCODINGS))
    for (const name of [...some.slice(0, 8), '-unknown', 'infile'])
      for (const pattern of PATTERNS)
        for (const count of COUNTS) {
          // A server reads no longer query.
          const size = SIZES[encoding === 'query' ? 0 : 1]!;
          const pairs = repeated(name, count, pattern, size);
          const cost = await timeOf(send(app, pairs));
          const what = `${app} ${encoding}: ${count} × ${name} in ${size} characters of ${JSON.stringify(pattern)}`;
          isSlow({ what, cost });
        }
}

/** Values, one of which most options accept. */
const VALUES = [
  ...[
    '1',
    '90',
    '50',
    'on',
    'red',
    'A4',
    'a',
    '1x1',
    '10mm',
    '90:1',
    'http://a.example/',
    'Title:a',
    'Name:a',
    'a,b',
  ],
  ...[
    '404',
    'de-DE',
    'utf-8',
    'tab',
    'prefers-color-scheme:dark',
    'iPhone 15',
    'jpeg:extent=1kb',
    'Europe/Berlin',
  ],
  ...[
    'print',
    'Center',
    '0,0',
    'point 1,1',
    'Polynomial 1',
    'Add 1',
    'docx',
    'screen',
    'Helvetica',
    '+1+1 red',
    '1.4',
  ],
];

function isAccepted(tool: Tool, pairs: readonly Parameter[]): boolean {
  try {
    read(tool.name, pairs);
    return true;
  } catch (thrown) {
    if (!(thrown instanceof ConversionError)) throw thrown;
    return false;
  }
}

/** Returns the longest value of an option that grows from one that it accepts, and how often it can be given. */
function largestOf(tool: Tool, option: Option<unknown>): Parameter[] {
  const name = option.names[0];
  if (name === undefined) return [];
  const words = [
    ...((option.schema.enum as readonly string[] | undefined) ?? []),
    ...option.rule.split(/[ ,]+/),
  ];
  const accepts = (value: string) => isAccepted(tool, [{ name, value }]);
  const grown = [...VALUES, ...words].filter(accepts).map((short) => longestOf(short, accepts));
  const [value] = grown.toSorted((a, b) => b.length - a.length);
  if (value === undefined) return [];
  let count = 1;
  const pairs = (times: number) => Array.from({ length: times }, () => ({ name, value }));
  while (count < 256 && count * value.length < MAX_FIELD_BYTES && isAccepted(tool, pairs(2 * count)))
    count *= 2;
  return pairs(count);
}

/** Repeats the last item of a value as long as it is accepted. */
function longestOf(short: string, accepts: (value: string) => boolean): string {
  const last = /[^:]*$/.exec(short)![0];
  let longest = short;
  for (const between of [',', '', ' '])
    for (let more = `${between}${last}`; more.length <= MAX_FIELD_BYTES; more += more) {
      if (!accepts(longest + more)) break;
      longest += more;
    }
  return longest;
}

export const everyOption: Row = {
  name: 'every-option',
  title: 'every option with long values, and the largest valid requests',
  figures: 'reads over the target; slowest',
  target: `≤ ${MAX_READ} ms`,
  async run({ progress }) {
    const slow: Cost[] = [];
    let slowest = 0;
    const note = (cost: Cost) => {
      slowest = Math.max(slowest, cost.cost);
      if (cost.cost > MAX_READ) slow.push(cost);
    };
    const notes: string[] = [];
    for (const [index, tool] of ALL.entries()) {
      await readEvery(tool, note);
      const options = Object.values(tool.options).flatMap((option): Option<unknown>[] =>
        Object.values(option.readers ?? { option }),
      );
      const largest = options.map((option) => largestOf(tool, option));
      const all: Parameter[] = [];
      for (const pairs of largest.toSorted((a, b) => sizeOf(b) - sizeOf(a))) {
        // As many as are accepted beside the others.
        for (let count = pairs.length; count >= 1; count >>= 1) {
          if (!isAccepted(tool, [...all, ...pairs.slice(0, count)])) continue;
          all.push(...pairs.slice(0, count));
          break;
        }
      }
      const request = () => read(tool.name, all);
      for (const pairs of [...largest, all]) {
        const cost = await timeOf(() => isAccepted(tool, pairs), 5);
        note({
          what: `${tool.name}, valid: ${pairs.length} × ${pairs[0]?.name} in ${sizeOf(pairs)} characters`,
          cost,
        });
      }
      const kept = JSON.stringify(request().options).length;
      const time = costOf(() => request(), RUNS);
      notes.push(
        `largest request of ${tool.name}: ${all.length} parameters with ${sizeOf(all)} characters, read in ${time.toFixed(1)} ms, ${kept} characters of JSON`,
      );
      progress(index + 1, ALL.length);
    }
    const sorted = slow.toSorted((a, b) => b.cost - a.cost);
    return {
      figure: `${slow.length}; ${slowest.toFixed(1)} ms`,
      failures: sorted.map(({ what, cost }) => `${cost.toFixed(1)} ms: ${what}`),
      notes,
    };
  },
};

function sizeOf(pairs: readonly Parameter[]): number {
  return pairs.reduce((sum, { name, value }) => sum + name.length + value.length, 0);
}
