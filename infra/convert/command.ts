import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { AUTO } from '../../functions/conversion/request.ts';
import { wordsAfter } from '../../functions/shared/options/args.ts';
import type { Parameter } from '../../functions/shared/options/option.ts';
import { optionNamed, suggest } from '../../functions/shared/options/read-options.ts';
import { quote } from '../../functions/shared/quote.ts';
import type { Tool } from '../../functions/shared/tool.ts';

/** A mistake on the command line. */
export class UsageError extends Error {}

/** A command line. */
export interface Command {
  readonly help: boolean;
  readonly inputs: readonly string[];
  readonly list: string | undefined;
  readonly to: string;
  readonly format: string | undefined;
  readonly tool: Tool | undefined;
  /** Options of the tool in their order. */
  readonly options: readonly Parameter[];
  readonly jobs: number;
  readonly fresh: boolean;
  /** Whether a result may replace an input, or the result of another input. */
  readonly overwrite: boolean;
  readonly url: string | undefined;
  readonly key: string | undefined;
}

const VALUES = ['to', 'format', 'app', 'list', 'jobs', 'url', 'key'] as const;
const SWITCHES = ['fresh', 'overwrite', 'help'] as const;

/** Option names of this command, which no tool may use. */
export const OWN_NAMES: readonly string[] = [...VALUES, ...SWITCHES].map((name) => `--${name}`);

type Value = (typeof VALUES)[number];
type Switch = (typeof SWITCHES)[number];

/** Reads the command line. @throws UsageError that names the argument and the rule. */
export function readCommand(args: readonly string[], tools: readonly Tool[]): Command {
  const { values, switches, inputs, words } = separate(args, tools);
  const app = values.get('app');
  const tool = tools.find(({ name }) => name === app);
  if (app !== undefined && app !== AUTO && !tool) {
    const names = [...tools.map(({ name }) => name), AUTO].join(', ');
    throw new UsageError(`--app must be one of ${names}, got ${quote(app)}.`);
  }
  const to = values.get('to') ?? '';
  const help = switches.has('help');
  if (!help && to === '') throw new UsageError('Give --to and the name of the result, or of a directory.');
  if (!help && inputs.length === 0 && !values.has('list')) throw new UsageError('Give at least one input.');
  const url = values.get('url');
  if (url !== undefined && !/^https?:/.test(URL.parse(url)?.protocol ?? ''))
    throw new UsageError(`--url must be the http or https URL of a service, got ${quote(url)}.`);
  const jobs = values.get('jobs') ?? String(Math.min(64, availableParallelism()));
  if (!/^\d{1,2}$/.test(jobs) || Number(jobs) < 1 || Number(jobs) > 64)
    throw new UsageError(`--jobs must be an integer from 1 to 64, got ${quote(jobs)}.`);
  return {
    help,
    inputs,
    to,
    tool,
    url,
    options: words,
    jobs: Number(jobs),
    fresh: switches.has('fresh'),
    overwrite: switches.has('overwrite'),
    list: values.get('list'),
    format: values.get('format')?.replace(/^\./, ''),
    key: values.get('key'),
  };
}

/** Separates inputs, options of this command, and options of the tools. */
function separate(args: readonly string[], tools: readonly Tool[]) {
  const values = new Map<Value, string>();
  const switches = new Set<Switch>();
  const inputs: string[] = [];
  const words: Parameter[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at]!;
    if (word === '--') {
      inputs.push(...args.slice(at + 1));
      break;
    }
    const [, name = word, inline] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    const own = VALUES.find((value) => name === `--${value}`);
    const on = SWITCHES.find((value) => word === `--${value}`);
    if (on) switches.add(on);
    else if (own) {
      if (values.has(own)) throw new UsageError(`--${own} is given more than once.`);
      if (inline === undefined) at += 1;
      const value = inline ?? args[at];
      if (value === undefined || value === '') throw new UsageError(`--${own} needs a value.`);
      values.set(own, value);
    } else if (isOption(word, tools)) {
      const option = optionFor(name, args[at + 1], tools);
      if (!option) checkIgnored(name, tools);
      // The next word may be an input.
      const takesNone = inline !== undefined || !option || option.words === 'optional';
      const taken = takesNone ? [] : wordsAfter(option, args.slice(at + 1));
      if (!takesNone && option.words !== 'none' && taken.length === 0)
        throw new UsageError(`${name} needs a value.`);
      at += taken.length;
      words.push({ name, value: inline ?? taken.join(option?.words === 'pair' ? ':' : ' ') });
    } else inputs.push(word);
  }
  return { values, switches, inputs, words };
}

/** Returns the option with a name. If tools differ, and a source follows, it is that of the tool that always takes one. */
function optionFor(name: string, next: string | undefined, tools: readonly Tool[]) {
  const found = tools.map((tool) => optionNamed(tool, name)).filter((option) => option !== undefined);
  const isSource = next !== undefined && (/^https?:/i.test(next) || existsSync(next));
  return (
    (isSource ? found.find(({ namesSource, words }) => namesSource && words === undefined) : undefined) ??
    found[0]
  );
}

/** Whether a word is an option. A file name may begin with a plus sign, or be the name of an option without a hyphen. */
function isOption(word: string, tools: readonly Tool[]): boolean {
  if (word.startsWith('-')) return word !== '-';
  const [name, value] = word.split('=', 2) as [string, string?];
  const mayBe = word.startsWith('+') || value !== undefined;
  return mayBe && tools.some((tool) => optionNamed(tool, name));
}

function checkIgnored(name: string, tools: readonly Tool[]): void {
  if (tools.some(({ ignored, refused }) => ignored.includes(name) || refused.includes(name))) return;
  const names = tools.flatMap(({ options }) => Object.values(options).flatMap((option) => option.names));
  const [hyphens] = /^-*/.exec(name)!;
  const isAlike = (known: string) => /^-*/.exec(known)![0] === hyphens;
  const guess =
    suggest(name, [...OWN_NAMES, ...names].filter(isAlike)) ?? suggest(name, [...OWN_NAMES, ...names]);
  throw new UsageError(
    `Unknown option ${quote(name)}.${guess === undefined ? '' : ` Did you mean '${guess}'?`}`,
  );
}
