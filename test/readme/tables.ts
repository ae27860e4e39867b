import { costOf, PRICES } from '../../functions/platform/usage/prices.ts';
import { ERRORS } from '../../functions/shared/errors.ts';
import type { Parameter } from '../../functions/shared/options/parameters.ts';
import { ROUTER_MEMORY } from '../../functions/shared/settings/aws.ts';
import { LIMITS, type Tool } from '../../functions/shared/tool.ts';
import * as tools from '../../functions/tools.ts';

/** The tables of the READMEs by name, generated from the code. Each follows `<!-- table: NAME -->`. */
export function tables(): ReadonlyMap<string, string> {
  const all = Object.values<Tool>(tools);
  return new Map([
    ['tools', toolTable(all)],
    ...all.map((tool) => [tool.name, optionTable(tool)] as const),
    ['errors', errorTable()],
    ['limits', limitTable()],
    ['prices', priceTable()],
    ['router-cost', routerTable()],
    ['cost', costTable(all)],
  ]);
}

function toolTable(all: readonly Tool[]): string {
  const rows = all.map(({ name, summary, formats, paged }) => {
    const each = paged.length === 0 ? '–' : paged.map((format) => `.${format}`).join(' ');
    return [
      `[${name}](functions/${name}/README.md)`,
      summary,
      formats.map((format) => `.${format}`).join(' '),
      each,
    ];
  });
  return table(['`app`', 'what it does', '`outfile`', '`.zip` and `%d`, a file per page'], rows);
}

function optionTable(tool: Tool): string {
  const { parameters, ignored, refused } = tool;
  const options = Object.values(parameters).flatMap((parameter): readonly Parameter<unknown>[] =>
    Object.values(parameter.readers ?? { parameter }).filter(({ names }) => names.length > 0),
  );
  const sections = [...Map.groupBy(options, ({ category = '' }) => category)].map(([title, some]) => {
    const rows = some.map((option) => [
      names(option.names),
      option.meaning,
      rule(option),
      shown(option),
      scope(option, tool),
    ]);
    const isScoped = rows.some((row) => row[4] !== '');
    const columns = ['option', 'effect', 'value', 'default', ...(isScoped ? ['only'] : [])];
    const body = table(
      columns,
      rows.map((row) => row.slice(0, columns.length)),
    );
    return [...(title === '' ? [] : [`### ${title}`]), body];
  });
  const notes = [
    ignored.length === 0
      ? ''
      : `Accepted without effect, and listed in \`X-Ignored-Options\`: ${names(ignored)}.`,
    refused.length === 0 ? '' : `Refused: ${names(refused)}.`,
  ];
  return [...sections.flat(), ...notes.filter((note) => note !== '')].join('\n\n');
}

/** Says where an option has an effect, unless that is everywhere. */
function scope(option: Parameter<unknown>, { formats, parameters }: Tool): string {
  const { inputs, with: others, outputs = formats } = option;
  const written = formats.filter((format) => outputs.includes(format));
  const dotted = (kinds: readonly string[]) => kinds.map((kind) => `.${kind}`).join(' ');
  return [
    ...(inputs ? [`from ${dotted(inputs.slice(0, 4))}${inputs.length > 4 ? ' …' : ''}`] : []),
    ...(written.length < formats.length ? [`to ${dotted(written)}`] : []),
    ...(others ? [`with ${others.map((key) => `\`${parameters[key]!.names[0]}\``).join(' or ')}`] : []),
  ].join(', ');
}

function rule(parameter: Parameter<unknown>): string {
  return typeof parameter.default === 'boolean' ? 'on or off' : parameter.rule;
}

function errorTable(): string {
  const rows = Object.entries(ERRORS).map(([code, { status, meaning }]) => [
    String(status),
    `\`${code}\``,
    meaning,
  ]);
  return table(['status', 'code', 'meaning'], rows);
}

function limitTable(): string {
  const megabytes = (bytes: number) => `${bytes / 1e6} MB`;
  return table(
    ['limit', 'default'],
    [
      ['source', megabytes(LIMITS.sourceBytes)],
      ['result', megabytes(LIMITS.resultBytes)],
      ['one image', `${LIMITS.pixels / 1e6} Mpx`],
      ['pages of a document', String(LIMITS.pages)],
      ['files of a result', String(LIMITS.files)],
      ['time of a conversion', `${LIMITS.conversionTime / 1000} s`],
    ],
  );
}

function priceTable(): string {
  const million = (price: number) => `$${Number((price * 1e6).toPrecision(6))}`;
  const { x86, arm } = PRICES.lambdaGibSecond;
  return table(
    ['billed', 'price'],
    [
      ['Lambda, x86', `$${x86.toFixed(10)} per GB-second`],
      ['Lambda, arm', `$${arm.toFixed(10)} per GB-second`],
      ['Lambda, requests', `${million(PRICES.lambdaRequest)} per million`],
      ['API Gateway, REST API', `${million(PRICES.gatewayRequest)} per million`],
      ['S3, PUT and GET', `${million(PRICES.s3Put)} and ${million(PRICES.s3Get)} per million`],
      [
        'DynamoDB, reads and writes',
        `${million(PRICES.dynamoRead)} and ${million(PRICES.dynamoWrite)} per million`,
      ],
      ['CloudWatch Logs', `$${PRICES.logsGib} per GB`],
      ['downloads to the internet', `$${PRICES.outGib} per GB after the first 100 GB of a month`],
    ],
  );
}

/** Milliseconds of CPU that a request takes in a router with one vCPU, which Lambda gives at 1769 MiB. */
const ROUTER_CPU = 13.5;

function routerTable(): string {
  const rows = [256, 512, 1024].map((memory) => {
    const price = (1000 * memory * PRICES.lambdaGibSecond.arm) / 1024;
    const name = memory === ROUTER_MEMORY ? `**${memory} MiB**` : `${memory} MiB`;
    return [name, `$${price.toFixed(4)}`, `${Math.round((ROUTER_CPU * 1769) / memory)} ms`];
  });
  return table(['router', 'a second of waiting', 'CPU time of a request becomes'], rows);
}

/** Milliseconds of a conversion of a small source, for the example of costs. */
const EXAMPLES: Readonly<Record<string, number>> = {
  pdftools: 500,
  html2pdf: 1500,
  html2image: 1500,
  imageproc: 400,
  doc2any: 1000,
} satisfies Record<keyof typeof tools, number>;

function costTable(all: readonly Tool[]): string {
  const rows = all.map(({ name, sizing }) => {
    const duration = EXAMPLES[name]!;
    const cost = costOf({ conversions: 1000, milliseconds: 1000 * duration }, sizing.memory);
    const parts = [cost.tool, cost.router, cost.other].map((part) => part.toFixed(3));
    const total = (cost.tool + cost.router + cost.other).toFixed(2);
    return [`${name}, ${sizing.memory} MiB`, `${duration / 1000} s`, ...parts, total];
  });
  return table(['tool', 'duration', 'tool', 'router', 'gateway, S3, keys, logs', 'total'], rows);
}

function names(all: readonly string[]): string {
  return all.map((name) => `\`${name}\``).join(' ');
}

function shown(parameter: Parameter<unknown>): string {
  const value = parameter.default;
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return '–';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'object' && value !== null) return Object.values(value).join('x');
  return String(value);
}

function table(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
