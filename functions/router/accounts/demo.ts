import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { Limiter } from '../../platform/limits/limits.ts';
import { ConversionError } from '../../shared/errors.ts';
import { FORMATS } from '../../shared/formats.ts';
import type { Given } from '../../shared/options/parameters.ts';
import type { Format, Tool } from '../../shared/tool.ts';

/** Maximum number of demo conversions per hour. */
export interface DemoSettings {
  readonly perAddress: number;
  readonly perHour: number;
}

/** Limits of one demo conversion. */
export const DEMO_LIMITS = { sourceBytes: 5_000_000, conversionTime: 10_000 } as const;

const HOUR = 3_600_000;
const TEXT = 'DEMO';
/**
 * Header of a printed page. It is drawn over the whole page and outside the document, so the page's scripts
 * cannot remove it.
 */
const HEADER = `<div style="${Object.entries({
  position: 'fixed',
  inset: '0',
  display: 'flex',
  'align-items': 'center',
  'justify-content': 'center',
  font: 'bold 28vmin sans-serif',
  color: 'rgba(200,0,0,.4)',
  transform: 'rotate(-30deg)',
})
  .map(([name, value]) => `${name}:${value}`)
  .join(';')}">${TEXT}</div>`;

interface Change {
  /** Options that could bypass the restriction to the first page or the watermark. */
  readonly drop: readonly string[];
  readonly add: Readonly<Record<string, string>>;
}

const PAGES = ['-f', '-l', '-o', '-e', '-pages', '--pages', '--page-ranges'];

/** How each tool creates a PDF of the first page with a watermark. Other tools create no PDF in demo mode. */
const PDF_CHANGES: Readonly<Record<string, Change>> = {
  html2pdf: {
    // A cover adds pages, and the HTML of a footer could hide the page and the watermark.
    drop: ['--cover', 'cover', '--footer-html'],
    add: { '-f': '1', '-l': '1', '--header-html': HEADER },
  },
  doc2any: {
    drop: ['--watermark', '--watermark-color', '--watermark-angle', '--notes', '--fit'],
    add: { '-f': '1', '-l': '1', '--watermark': TEXT, '--watermark-color': '#c80000' },
  },
};

/** The tool that draws the watermark of images, as a second conversion. */
const IMAGE_TOOL = 'imageproc';
const IMAGE_OPTIONS: Readonly<Record<string, string>> = {
  '-frame': '0',
  '-resize': '1024x1024>',
  '-gravity': 'Center',
  '-font': 'Helvetica-Bold',
  '-pointsize': '96',
  '-fill': 'rgba(200,0,0,0.6)',
  '-stroke': 'rgba(255,255,255,0.6)',
  '-annotate': TEXT,
};

/**
 * Returns the query of a demo conversion: the caller's query, limited to the first page and, for a PDF, with
 * a watermark.
 */
export function demoQuery(query: readonly Given[], { name }: Tool, format: Format): Given[] {
  // A watermark can be drawn into every image, but not into editable documents.
  const imageChange = FORMATS[format].maxSide === undefined ? undefined : { drop: [], add: {} };
  const change = format === 'pdf' ? PDF_CHANGES[name] : imageChange;
  if (!change)
    throw new ConversionError(
      'UNSUPPORTED_CONVERSION',
      `Demo mode does not support ${format} output from ${name}.`,
    );
  const dropped = ['apikey', ...PAGES, ...change.drop, ...Object.keys(change.add)];
  return [
    ...query.filter(({ name: option }) => !dropped.includes(option)),
    ...Object.entries(change.add).map(([option, value]) => ({ name: option, value })),
  ];
}

/** Returns the query that draws the watermark into an image, or `undefined` for a PDF, which has it already. */
export function watermarkQuery(source: string, outfile: string, format: Format): Given[] | undefined {
  if (format === 'pdf') return undefined;
  const query = { app: IMAGE_TOOL, infile: source, outfile, ...IMAGE_OPTIONS };
  return Object.entries(query).map(([name, value]) => ({ name, value }));
}

/** Counts a demo conversion, and returns whether the limits of the IP address and of the deployment allow it. */
export async function admitDemo(
  ip: string | undefined,
  { perAddress, perHour }: DemoSettings,
  limiter: Limiter,
): Promise<boolean> {
  const expires = Date.now() + 2 * DEMO_LIMITS.conversionTime;
  const count = (account: string, perMinute: number) =>
    limiter.admit({ account, limits: { perMinute }, window: HOUR, expires });
  const own = await count(demoAccount(ip), perAddress);
  if (!own.admitted) return false;
  const all = await count('demo', perHour);
  if (!all.admitted) await limiter.release(own.ticket, 'all');
  return all.admitted;
}

/** Returns an opaque name for an IP address. IPv6 addresses are counted by network, because each caller has a whole one. */
export function demoAccount(ip = ''): string {
  const network = isIPv6(ip) && !ip.includes('.') ? networkOf(ip) : ip.replace(/^::ffff:/, '');
  return `demo-${createHash('sha256').update(`demo ${network}`).digest('hex').slice(0, 16)}`;
}

/** The first 64 bits of an IPv6 address. */
function networkOf(ip: string): string {
  const [head = '', tail = ''] = ip.split('%')[0]!.split('::') as [string, string?];
  const [left, right] = [head, tail].map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: Math.max(0, 8 - left!.length - right!.length) }, () => '0');
  return [...left!, ...zeros, ...right!]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
