import { ERRORS } from '../../functions/shared/errors.ts';
import type { Parameter } from '../../functions/shared/options/parameters.ts';
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
  ]);
}

function toolTable(all: readonly Tool[]): string {
  const rows = all.map(({ name, summary, formats, paged }) => {
    const each = paged.length === 0 ? '–' : paged.map((format) => `.${format}`).join(' ');
    return [`\`${name}\``, summary, formats.map((format) => `.${format}`).join(' '), each];
  });
  return table(['`app`', 'what it does', '`outfile`', '`.zip` and `%d`, a file per page'], rows);
}

function optionTable({ parameters, ignored, refused }: Tool): string {
  const rows = Object.values(parameters)
    .flatMap(operators)
    .map((parameter) => [names(parameter.names), parameter.meaning, rule(parameter), shown(parameter)]);
  const notes = [
    ignored.length === 0
      ? ''
      : `Accepted without effect, and listed in \`X-Ignored-Options\`: ${names(ignored)}.`,
    refused.length === 0 ? '' : `Refused: ${names(refused)}.`,
  ];
  return [
    table(['option', 'meaning', 'value', 'default'], rows),
    ...notes.filter((note) => note !== ''),
  ].join('\n\n');
}

/** A sequence is listed by its operators, with a row for each. */
function operators(parameter: Parameter<unknown>): Parameter<unknown>[] {
  return 'readers' in parameter
    ? Object.values(parameter.readers as Record<string, Parameter<unknown>>)
    : [parameter];
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
