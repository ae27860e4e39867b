import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Cost, costOf, defaultSizes, PRICES } from '../../functions/platform/usage-report.ts';
import { ERRORS } from '../../functions/shared/errors.ts';
import { SWITCH_RULE } from '../../functions/shared/options/option.ts';
import { type OptionReference, referenceOf } from '../../functions/shared/options/reference.ts';
import { ROUTER_MEMORY } from '../../functions/shared/settings/aws.ts';
import { CONVERSION_LIMITS, type Tool } from '../../functions/shared/tool.ts';
import * as tools from '../../functions/tools.ts';
import { SETTINGS } from '../../infra/local/definitions.ts';
import { fillMeasured, replaceSections } from '../run/report.ts';

/** The tables of the READMEs by name, generated from the code. Each follows `<!-- table: NAME -->`. */
export function tables(): ReadonlyMap<string, string> {
  const all = Object.values<Tool>(tools);
  const sections = new Map<string, string>();
  return new Map([
    ['tools', toolTable(all)],
    ...all.map((tool) => [tool.name, optionTable(tool, sections)] as const),
    ['errors', errorTable()],
    ['limits', limitTable()],
    ['settings', settingTable()],
    ['prices', priceTable()],
    ['router-cost', routerTable()],
    ['cost', costTable(all)],
    ['site-cost', siteTable()],
    ['job-cost', jobTable()],
    ['month', monthTable(all)],
  ]);
}

function settingTable(): string {
  const rows = Object.entries(SETTINGS).map(([name, { text, shown }]) => [`\`${name}\``, text, shown]);
  return table(['setting', 'meaning', 'default'], rows);
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

/** Cells with more words than these are written once, and named by the option that has them. */
const [SHORT_RULE, SHORT_TEXT] = [4, 8];

/** Sections that another tool in `written` has, too, link to it. */
function optionTable(tool: Tool, written: Map<string, string>): string {
  const { ignored, refused } = tool;
  const owners = new Map<string, string>();
  const once = (text: string, name: string, short: number) => {
    const owner = owners.get(text);
    if (owner !== undefined && text.split(' ').length > short) return `as for \`${owner}\``;
    owners.set(text, owner ?? name);
    return text;
  };
  const valueCell = ({ option, rule, default: absent }: OptionReference) => {
    if (option.rule === SWITCH_RULE) return absent === 'on' ? 'switch, on' : 'switch';
    const value = once(shortRule(rule), option.names[0]!, SHORT_RULE);
    return absent === undefined ? value : `${value} (default ${absent})`;
  };
  const sections = [...referenceOf(tool)].map(([title, some]) => {
    const content = JSON.stringify([title, some]);
    const other = written.get(content);
    if (other !== undefined)
      return [
        `### ${title}`,
        `As for [${other}](../${other}/README.md#${title.toLowerCase().replaceAll(' ', '-')}).`,
      ];
    written.set(content, tool.name);
    const shared = some[0]!.scope;
    const isShared = shared !== '' && some.every(({ scope }) => scope === shared);
    const rows = some.map((reference) => ({
      option: names(reference.option.names),
      effect: once(reference.option.description, reference.option.names[0]!, SHORT_TEXT),
      value: valueCell(reference),
      only: isShared ? '' : once(shortScope(reference), reference.option.names[0]!, SHORT_TEXT),
    }));
    const columns = (['option', 'effect', 'value', 'only'] as const).filter((column) =>
      rows.some((row) => row[column] !== ''),
    );
    const body = table(
      columns,
      rows.map((row) => columns.map((column) => row[column])),
    );
    return [...(title === '' ? [] : [`### ${title}`]), ...(isShared ? [`Only ${shared}:`] : []), body];
  });
  const notes = [
    ignored.length === 0
      ? ''
      : `Accepted without effect, and listed in \`X-Ignored-Options\`: ${names(ignored)}.`,
    refused.length === 0 ? '' : `Refused: ${names(refused)}.`,
  ];
  return [...sections.flat(), ...notes.filter((note) => note !== '')].join('\n\n');
}

/** Names at most three of the options that another one needs. */
function shortScope({ scope }: OptionReference): string {
  return scope.replace(/^(with(?: `[^`]+`,){3}) .*`$/, '$1 …').replace(/, …$/, ' …');
}

/** Shortens a sentence of errors to what a cell needs. */
function shortRule(rule: string): string {
  return rule
    .replace(/^(a number from .*), such as [\d.]+$/, '$1')
    .replace(/^(?:a|an) (number|integer) from /, '$1 ')
    .replace(/^at most (\d+) numbers, each at most (\d+), /, '1–$1 numbers up to $2, ')
    .replace(/^one of /, '');
}

function errorTable(): string {
  const rows = Object.entries(ERRORS).map(([code, { status, description }]) => [
    String(status),
    `\`${code}\``,
    description,
  ]);
  return table(['status', 'code', 'meaning'], rows);
}

function limitTable(): string {
  const megabytes = (bytes: number) => `${bytes / 1e6} MB`;
  return table(
    ['limit', 'default'],
    [
      ['source', megabytes(CONVERSION_LIMITS.sourceBytes)],
      ['result', megabytes(CONVERSION_LIMITS.resultBytes)],
      ['one image', `${CONVERSION_LIMITS.pixels / 1e6} Mpx`],
      ['pages of a document', String(CONVERSION_LIMITS.pages)],
      ['files of a result', String(CONVERSION_LIMITS.files)],
      ['time of a conversion', `${CONVERSION_LIMITS.conversionTime / 1000} s`],
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
      ['Lambda, a new environment with tenant isolation', `$${PRICES.lambdaEnvironmentGib} per GB`],
      [
        'Lambda, `/tmp` beyond 512 MiB',
        `$${OTHER_PRICES.lambdaTemporaryGibSecond.toFixed(10)} per GB-second`,
      ],
      [
        'API Gateway, REST API',
        `${million(PRICES.gatewayRequest)} per million, and for each further 10 MB of a response`,
      ],
      ['S3, PUT and GET', `${million(PRICES.s3Put)} and ${million(PRICES.s3Get)} per million`],
      [
        'DynamoDB, reads and writes',
        `${million(PRICES.dynamoRead)} and ${million(PRICES.dynamoWrite)} per million`,
      ],
      ['S3, storage', `$${OTHER_PRICES.s3GibMonth} per GB and month`],
      [
        'DynamoDB, storage and backups',
        `$${OTHER_PRICES.dynamoGibMonth} and $${OTHER_PRICES.dynamoBackupGibMonth} per GB and month`,
      ],
      ['CloudWatch Logs', `$${PRICES.logsGib} per GB`],
      [
        'CloudWatch, metrics, after ten',
        `$${OTHER_PRICES.metricMonth} for each that is written the whole month`,
      ],
      ['CloudWatch, metrics of alarms, after ten', `$${OTHER_PRICES.alarmMonth} each and month`],
      ['CloudWatch, dashboards, after three', `$${OTHER_PRICES.dashboardMonth} each and month`],
      [
        'with `front`: CloudFront with its function',
        `${million(OTHER_PRICES.cloudFrontRequest)} per million HTTPS requests`,
      ],
      [
        'with `wafRate`: WAF',
        `$${OTHER_PRICES.wafMonth} a month, $1 more with \`front\`, and ${million(OTHER_PRICES.wafRequest)} per million requests`,
      ],
      [
        'with `network`: each NAT gateway of your VPC',
        `$${OTHER_PRICES.natHour} an hour, and $${OTHER_PRICES.natGib} per GB`,
      ],
      [
        'Lambda, operations of durable executions (an example on the price page)',
        `${million(OTHER_PRICES.durableOperation)} per million`,
      ],
      [
        'Lambda, data of durable executions, written and kept (not verified)',
        `$${OTHER_PRICES.durableGib} per GB, and $${OTHER_PRICES.durableGibMonth} per GB and month`,
      ],
      ['with `provisioned`', `$${OTHER_PRICES.provisionedGibSecond.toFixed(10)} per GB-second, used or not`],
      ['downloads to the internet', `$${OTHER_PRICES.outGib} per GB after the first 100 GB of a month`],
    ],
  );
}

/** CPU milliseconds per request of a router with one vCPU, which Lambda gives at 1769 MiB. */
const ROUTER_CPU = 13.5;

function routerTable(): string {
  const rows = [256, 512, 1024].map((memory) => {
    const price = (1000 * memory * PRICES.lambdaGibSecond.arm) / 1024;
    const name = memory === ROUTER_MEMORY ? `**${memory} MiB**` : `${memory} MiB`;
    return [name, `$${price.toFixed(4)}`, `${Math.round((ROUTER_CPU * 1769) / memory)} ms`];
  });
  return table(['router', 'a second of waiting', 'CPU time of a request becomes'], rows);
}

/** Estimates the cost of conversions of which a share starts an environment. */
function exampleCost(tool: Tool, conversions: number, coldShare: number): Cost {
  const { warm, start } = tool.example.seconds;
  const coldStarts = conversions * coldShare;
  const milliseconds = 1000 * (conversions * warm + coldStarts * start);
  return costOf({ conversions, milliseconds, coldStarts }, tool.name, defaultSizes([tool]));
}

function sumOf({ tool, router, other }: Cost): number {
  return tool + router + other;
}

function costTable(all: readonly Tool[]): string {
  const rows = all.map((tool) => {
    const warm = exampleCost(tool, 1000, 0);
    const parts = [warm.tool, warm.router, warm.other].map((part) => part.toFixed(3));
    const totals = [0, 0.02, 1].map((share) => sumOf(exampleCost(tool, 1000, share)).toFixed(3));
    return [`${tool.name}, ${tool.sizing.memory} MiB`, `${tool.example.seconds.warm} s`, ...parts, ...totals];
  });
  const totals = ['total, all warm', '2 % cold', 'all cold'];
  return table(['tool', 'duration', 'tool', 'router', 'gateway, S3, keys, logs', ...totals], rows);
}

/** Items that the account page reads: sessions, keys, and the usage of each day and tool. */
const ACCOUNT_READS = 200;

/** Returns the price of a request that waits for no tool. */
function routerRequest(): number {
  const seconds = (ROUTER_CPU * 1769) / ROUTER_MEMORY / 1000;
  return (
    PRICES.gatewayRequest +
    PRICES.lambdaRequest +
    (seconds * ROUTER_MEMORY * PRICES.lambdaGibSecond.arm) / 1024
  );
}

function siteTable(): string {
  const request = routerRequest();
  const dollars = (each: number) => `$${(1000 * each).toFixed(3)}`;
  return table(
    ['1,000 views', 'requests each', 'price'],
    [
      ['by new visitors: the page, its script, style sheet and icon', '4', dollars(4 * request)],
      ['by visitors whose browser has these files', '1', dollars(request)],
      ['of the account page', '1', dollars(request + ACCOUNT_READS * PRICES.dynamoRead)],
    ],
  );
}

/** Counts what a job uses beside its tool in the Lambda emulator, and what a webhook adds that arrives at once. */
export const JOB = {
  plain: { operations: 10, writes: 10, reads: 5 },
  webhook: { operations: 1, writes: 1, reads: 2 },
  bytes: 8300,
  /** Events of its function, and their milliseconds together. */
  events: 2,
  milliseconds: 200,
} as const;

function jobTable(): string {
  const dollars = (each: number) => `$${(1000 * each).toFixed(3)}`;
  const items = ({ writes, reads }: { readonly writes: number; readonly reads: number }) =>
    writes * PRICES.dynamoWrite + reads * PRICES.dynamoRead;
  const { plain, webhook, bytes, events, milliseconds } = JOB;
  const parts = [
    plain.operations * OTHER_PRICES.durableOperation,
    (bytes / 2 ** 30) * (OTHER_PRICES.durableGib + OTHER_PRICES.durableGibMonth / DAYS),
    events * PRICES.lambdaRequest +
      ((milliseconds / 1000) * ROUTER_MEMORY * PRICES.lambdaGibSecond.arm) / 1024,
    items(plain),
    routerRequest(),
  ];
  return table(
    ['1,000 jobs', 'each', 'price'],
    [
      ['operations of its durable execution', String(plain.operations), dollars(parts[0]!)],
      ['data of its durable execution, kept for a day', `${bytes / 1000} KB`, dollars(parts[1]!)],
      ['the function `jobs`', `${events} events, ${milliseconds} ms together`, dollars(parts[2]!)],
      ['the key table', `${plain.writes} writes, ${plain.reads} reads`, dollars(parts[3]!)],
      ['the request that is accepted', '1', dollars(parts[4]!)],
      ['together, beside the tool and S3', '', dollars(parts.reduce((sum, part) => sum + part, 0))],
      ['each request for its state', '1', dollars(routerRequest() + 2 * PRICES.dynamoRead)],
      [
        'a webhook that arrives at once',
        `${webhook.operations} operation`,
        dollars(webhook.operations * OTHER_PRICES.durableOperation + items(webhook)),
      ],
    ],
  );
}

const DAYS = 30;
/** Size of a result in KB, and GiB of a month that are free. */
const [RESULT_KB, FREE_GIB] = [200, 100];

/** Returns the price of downloading so many results in a month. */
function downloads(results: number): number {
  return OTHER_PRICES.outGib * Math.max(0, (1000 * RESULT_KB * results) / 2 ** 30 - FREE_GIB);
}

function monthTable(all: readonly Tool[]): string {
  const dollars = (tool: Tool, perDay: number, coldShare: number, more = 0) =>
    `$${(sumOf(exampleCost(tool, DAYS * perDay, coldShare)) + more).toFixed(2)}`;
  const rows = all.map((tool) => [
    tool.name,
    dollars(tool, 10, 1),
    dollars(tool, 1000, 0.02),
    dollars(tool, 100_000, 0.02),
    dollars(tool, 100_000, 0.02, downloads(DAYS * 100_000)),
  ]);
  const head = ['10 a day, all cold', '1,000 a day, 2 % cold', '100,000 a day, 2 % cold'];
  return table(['tool', ...head, `the same, and ${RESULT_KB} KB downloaded of each`], rows);
}

function names(all: readonly string[]): string {
  return all.map((name) => `\`${name}\``).join(' ');
}

/** Returns a Markdown table. */
export function table(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** List prices in the guide that are no part of the cost of a conversion, of the same place and time as `PRICES`. */
const OTHER_PRICES = {
  /** Per GiB and second of `/tmp` beyond the first 512 MiB. */
  lambdaTemporaryGibSecond: 0.0000000309,
  s3GibMonth: 0.023,
  outGib: 0.09,
  /** Per metric and month, without the free ten metrics, ten alarms and three dashboards. */
  metricMonth: 0.3,
  alarmMonth: 0.1,
  dashboardMonth: 3,
  /** Per GiB and month of the key table, and of its backups. */
  dynamoGibMonth: 0.25,
  dynamoBackupGibMonth: 0.2,
  durableOperation: 8e-6,
  durableGib: 0.25,
  durableGibMonth: 0.15,
  /** Cost of settings that are off by default. Per GiB and second, x86. */
  provisionedGibSecond: 0.0000041667,
  cloudFrontRequest: 1.1e-6,
  wafMonth: 7,
  wafRequest: 0.6e-6,
  natHour: 0.045,
  natGib: 0.045,
} as const;

const ROOT = join(import.meta.dirname, '../..');

/** Absolute paths of every README in the repository. */
export function readmes(): string[] {
  return [
    'README.md',
    'functions/**/README.md',
    'infra/**/README.md',
    'layers/**/README.md',
    'test/**/README.md',
    '.github/*.md',
  ]
    .flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
    .map((path) => join(ROOT, path));
}

/** Replaces every generated table and every measured section in the README at a path. */
export function fill(readme: string, path: string): string {
  return replaceSections(fillMeasured(readme, dirname(path)), 'table', (name) => {
    const generated = tables().get(name);
    if (generated === undefined) throw new Error(`There is no generated table named '${name}'.`);
    return generated;
  });
}
