import { setTimeout } from 'node:timers/promises';
import { makePdf, numberedPages } from '../../fixtures/pdf.ts';
import { MAX_DELAY, type SharedService } from '../neighbor/service.ts';
import type { Row } from '../row.ts';
import { neighborRow, repeat } from './neighbor.ts';

/** Maximum MiB by which the server may grow. */
const MAX_GROWTH = 100;
/** How long calls are left waiting, in milliseconds. */
const WAITING_TIME = 12_000;

type Pairs = ReadonlyArray<readonly [name: string, value: string]>;

interface Attack {
  readonly title: string;
  readonly calls: number;
  readonly lanes: number;
  /** How the parameters are sent. A check needs no key. */
  readonly as: 'check' | 'form' | 'multipart' | 'JSON';
  readonly pairs: (origin: string, index: number) => Pairs;
}

const common = (app: string, infile: string, outfile = 'a.pdf'): Pairs => [
  ['app', app],
  ['infile', infile],
  ['outfile', outfile],
];
const many = (count: number, name: string, value: string): Pairs => Array(count).fill([name, value]);
const ranges = (count: number, range = '1-') => Array(count).fill(range).join(',');
/** The source of these never arrives. */
const waiting = (origin: string, index: number) => `${origin}/never/${index}`;

const ATTACKS: Readonly<Record<string, Attack>> = {
  'check-tag': {
    title: 'a long language tag, checked without a key',
    calls: 96,
    lanes: 24,
    as: 'check',
    pairs: () => [...common('doc2any', 'http://a.example/'), ['--locale', ' '.repeat(62_000)]],
  },
  'check-device': {
    title: 'long names and lists, checked without a key',
    calls: 96,
    lanes: 24,
    as: 'check',
    pairs: (_, index) => [
      ...common(index % 2 === 0 ? 'html2image' : 'auto', 'http://a.example/', 'a.png'),
      ...(index % 2 === 0 ? many(1, '--device', 'é'.repeat(10_000)) : many(240, '-canny', ' '.repeat(200))),
    ],
  },
  'check-args': {
    title: 'a command line of 2,600 options, checked without a key',
    calls: 96,
    lanes: 24,
    as: 'check',
    pairs: () => [...common('auto', 'http://a.example/'), ['_args', '-a '.repeat(2600)]],
  },
  'form-tag': {
    title: 'a form with a language tag of 200 kB',
    calls: 48,
    lanes: 8,
    as: 'form',
    pairs: (origin) => [...common('doc2any', origin), ['--locale', '1'.repeat(200_000)]],
  },
  'form-operator': {
    title: 'JSON with a number of 950 kB',
    calls: 48,
    lanes: 8,
    as: 'JSON',
    pairs: (origin) => [...common('imageproc', origin, 'a.png'), ['-canny', ' '.repeat(950_000)]],
  },
  rotations: {
    title: '480 rotations of overlapping pages',
    calls: 20,
    lanes: 20,
    as: 'multipart',
    pairs: (origin) => [
      ...common('pdftools', `${origin}/pages.pdf`),
      ...many(480, '-rotate', `90:${ranges(500)}`),
    ],
  },
  'rotations-valid': {
    title: '100 rotations of all pages, and lists of pages',
    calls: 20,
    lanes: 20,
    as: 'multipart',
    pairs: (origin) => [
      ...common('pdftools', `${origin}/pages.pdf`),
      ...many(90, '-rotate', `90:${ranges(12)}`),
      ...many(1, '-pages', ranges(500)),
      ...many(1, '-watermark', 'a'),
      ...many(1, '-watermark-pages', ranges(500)),
    ],
  },
  lists: {
    title: 'long page lists and metadata',
    calls: 240,
    lanes: 8,
    as: 'multipart',
    pairs: (origin) => [
      ...common('pdftools', `${origin}/pages.pdf`),
      ...many(470, '-metadata', `Title:${'a'.repeat(500)}`),
      ...many(10, '-rotate', `90:${ranges(500)}`),
      ...many(1, '-pages', ranges(500)),
    ],
  },
  'lists-valid': {
    title: 'page lists and metadata within the bounds',
    calls: 240,
    lanes: 8,
    as: 'form',
    pairs: (origin) => [
      ...common('pdftools', `${origin}/none`),
      ...many(100, '-metadata', `Title:${'é'.repeat(500)}`),
      ...many(1, '-pages', ranges(500)),
      ...many(1, '-rotate', `90:${ranges(480)}`),
    ],
  },
  device: {
    title: 'a device name of 950 kB',
    calls: 48,
    lanes: 8,
    as: 'form',
    pairs: (origin) => [...common('html2image', origin, 'a.png'), ['--device', 'a'.repeat(950_000)]],
  },
  'kept-calls': {
    title: 'waiting calls with as many parameters as are read',
    calls: 64,
    lanes: 64,
    as: 'multipart',
    pairs: (origin, index) => [
      ...common('pdftools', waiting(origin, index)),
      ...many(480, '-rotate', `90:${ranges(500, `${1 + (index % 9)}`)}`),
      ...many(1, '-pages', ranges(500)),
    ],
  },
  'kept-calls-valid': {
    title: 'waiting calls at the bounds',
    calls: 64,
    lanes: 64,
    as: 'form',
    pairs: (origin, index) => [
      ...common('pdftools', waiting(origin, index)),
      ...many(100, '-metadata', `Title:${'é'.repeat(500)}`),
      ...many(1, '-pages', ranges(500, '1-2')),
      ...many(1, '-rotate', `90:${ranges(480, '1-2')}`),
    ],
  },
  'kept-files': {
    title: 'waiting calls with HTML of 900 kB',
    calls: 64,
    lanes: 64,
    as: 'JSON',
    pairs: (origin, index) => [
      ...common('html2pdf', waiting(origin, index)),
      ['--header-html', `<p>${'é'.repeat(440_000)}`],
    ],
  },
};

/** Sends the parameters, and returns the code of the error, or the status. */
async function send({ port, attacker, others }: SharedService, attack: Attack, pairs: Pairs, index: number) {
  const query = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value]));
  const signal = AbortSignal.timeout(60_000);
  const base = `http://127.0.0.1:${port}`;
  if (attack.as === 'check') {
    const response = await fetch(`${base}/site/check?${query}`, { signal });
    await response.text();
    return String(response.status);
  }
  // Each account has a share of the places.
  const { apiKey } = [attacker, ...others][index % 5]!;
  const headers: Record<string, string> = { 'x-api-key': apiKey };
  if (attack.as === 'JSON') headers['content-type'] = 'application/json';
  const response = await fetch(`${base}/api${attack.as === 'JSON' ? '/json' : '/'}`, {
    method: 'POST',
    signal,
    headers,
    body:
      attack.as === 'form'
        ? query
        : attack.as === 'JSON'
          ? JSON.stringify(Object.fromEntries(pairs))
          : formOf(pairs),
  });
  await response.arrayBuffer();
  return response.headers.get('x-error-code') ?? String(response.status);
}

function formOf(pairs: Pairs): FormData {
  const form = new FormData();
  for (const [name, value] of pairs) form.append(name, value);
  return form;
}

let pages: Buffer | undefined;

/** Rows about requests whose parameters are many, long or both. */
export const parameterRows: readonly Row[] = Object.entries(ATTACKS).map(([name, attack]) =>
  neighborRow({
    name,
    title: attack.title,
    figures: 'codes; growth of the server; its main thread for a call; slowest request of another account',
    target: `≤ ${MAX_GROWTH} MiB, ≤ ${MAX_DELAY} ms`,
    source: ({ url }, response) => {
      if (url?.startsWith('/never')) return;
      pages ??= makePdf(numberedPages(2000));
      if (url === '/pages.pdf') response.end(pages);
      else response.writeHead(404).end();
    },
    // All of them have a place.
    ...(name.startsWith('kept') && { settings: { environment: { CONCURRENCY: '32' } } }),
    async attack(service, origin) {
      const before = service.peakMemory();
      const began = service.mainThreadTime();
      const codes = new Map<string, number>();
      const sent = repeat(attack.calls, attack.lanes, async (index) => {
        const code = await send(service, attack, attack.pairs(origin, index), index).catch(() => 'none');
        codes.set(code, (codes.get(code) ?? 0) + 1);
      });
      // Calls that wait for their source are left waiting.
      await (name.startsWith('kept') ? Promise.race([sent, setTimeout(WAITING_TIME)]) : sent);
      const growth = Math.round(service.peakMemory() - before);
      const each = Math.round((service.mainThreadTime() - began) / attack.calls);
      return {
        figure: `${[...codes].map(([code, count]) => `${count} ${code}`).join(', ') || 'waiting'}; ${growth} MiB; ${each} ms`,
        failures: growth > MAX_GROWTH ? [`the server grew by ${growth} MiB`] : [],
      };
    },
  }),
);
