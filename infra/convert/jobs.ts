import { existsSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { AUTO, readRequest } from '../../functions/conversion/request.ts';
import { chooseTool } from '../../functions/engines/choose-tool.ts';
import { ConversionError } from '../../functions/shared/errors.ts';
import type { Parameter } from '../../functions/shared/options/option.ts';
import { takesSource } from '../../functions/shared/options/sources.ts';
import { pageName, readOutputName } from '../../functions/shared/output-name.ts';
import { HEAD_BYTES } from '../../functions/shared/source/file-kind.ts';
import type { Tool } from '../../functions/shared/tool.ts';
import { pdftools } from '../../functions/tools.ts';
import { type Command, UsageError } from './command.ts';
import { fileInput, type Input } from './inputs.ts';

/** A parameter whose value may be a file. */
interface JobParameter extends Parameter {
  readonly input?: Input;
}

/** One conversion of a run. */
export interface Job {
  readonly input: Input;
  /** Absolute path of the result without its `name`. It may contain the name of the input, which is no pattern. */
  readonly stem: string;
  /** The end of the path. Contains `%d` for one file per page. */
  readonly name: string;
  /** Parameters of the service, without the source. */
  readonly query: readonly JobParameter[];
  /** Whether the result goes to standard output. */
  readonly isPrinted: boolean;
}

/** Placeholder for a file that has not been sent yet. */
const ANY_UPLOAD = `upload:${'0'.repeat(32)}/source`;

/** The value of `--to` for standard output. */
export const STANDARD_OUTPUT = '-';

/** Returns the directory that the results of several inputs are written to, or `undefined` for a single result. */
export function directoryOf({ to, format }: Command): string | undefined {
  const isNew = format !== undefined && to !== STANDARD_OUTPUT && extname(to) === '';
  return isNew || /[/\\]$/.test(to) || statSync(to, { throwIfNoEntry: false })?.isDirectory()
    ? resolve(to)
    : undefined;
}

/** Matches a value that can only be the name of a file. */
const FILE_NAME = /^(?!\w+:)[^<>\s][^<>\n]*\.[a-z0-9]{2,5}$/i;

/** Returns an option with the file that its value names, if the option takes files. @throws UsageError if there is no such file. */
function withFile(option: Parameter, tools: readonly Tool[]): JobParameter {
  const { name, value } = option;
  if (!takesSource(tools, name)) return option;
  if (statSync(value, { throwIfNoEntry: false })?.isFile())
    return { ...option, input: fileInput(value, basename(value)) };
  if (FILE_NAME.test(value)) throw new UsageError(`There is no file '${value}' for ${name}.`);
  return option;
}

/** Returns the path of a result, or of one page. */
export function pathOf({ stem, name }: Pick<Job, 'stem' | 'name'>, page?: number): string {
  return stem + (page === undefined ? name : pageName(name, page));
}

/** Plans the conversions of a command. @throws UsageError for a mistake that concerns all of them. */
export async function planJobs(
  command: Command,
  inputs: readonly Input[],
  tools: readonly Tool[],
): Promise<Job[]> {
  const directory = directoryOf(command);
  const results =
    directory === undefined
      ? [{ ...oneResult(command, inputs), appended: inputs.slice(1) }]
      : resultsIn(directory, command, inputs).map((result) => ({ ...result, appended: [] }));
  const options = command.options.map((option) => withFile(option, tools));
  const jobs = await Promise.all(
    results.map(async ({ input, stem, name, appended }) => {
      const outfile = stem.endsWith('/') ? safeName(name) : `result.${name}`;
      const target = targetOf(outfile);
      const tool = command.tool ?? (appended.length > 0 ? pdftools : await toolForFile(input, target, tools));
      const query = [
        { name: 'app', value: tool?.name ?? AUTO },
        { name: 'outfile', value: outfile },
        ...appended.map((each) => ({ name: '-append', value: each.id, ...(each.open && { input: each }) })),
        ...options,
      ];
      return { input, stem, name, query, isPrinted: command.to === STANDARD_OUTPUT };
    }),
  );
  checkOptions(jobs, tools);
  if (!command.overwrite) checkInputs(jobs, [...inputs, ...options.flatMap(({ input = [] }) => input)]);
  return jobs;
}

function oneResult({ to, format }: Command, inputs: readonly Input[]) {
  if (to === STANDARD_OUTPUT) {
    if (format === undefined) throw new UsageError('--to - needs --format, such as --format pdf.');
    if (inputs.length !== 1) throw new UsageError(`--to - takes one input, got ${inputs.length}.`);
    return { input: inputs[0]!, stem: resolve('result.'), name: format };
  }
  if (format !== undefined)
    throw new UsageError('--format is for a directory. Give the name after --to an extension.');
  if (inputs.length === 0) throw new UsageError('There is no input.');
  if (inputs.length > 1 && !/\.pdf(\.zip)?$/i.test(to))
    throw new UsageError(
      `${inputs.length} inputs need a directory, unless the result is one PDF. Write --to '${to}/' and a --format.`,
    );
  if (extname(to) === '')
    throw new UsageError(`--to '${to}' has no extension. For a directory, add a --format.`);
  if (!existsSync(dirname(resolve(to)))) throw new UsageError(`There is no directory '${dirname(to)}'.`);
  return { input: inputs[0]!, stem: join(dirname(resolve(to)), '/'), name: basename(to) };
}

/**
 * Names the results after their inputs. Inputs that differ only in their extension keep it: `a.docx.pdf`,
 * `a.odt.pdf`.
 */
function resultsIn(directory: string, { format }: Command, named: readonly Input[]) {
  const inputs = [...new Map(named.map((input) => [input.id, input])).values()];
  if (format === undefined) throw new UsageError('A directory needs --format, such as --format pdf.');
  const bare = inputs.map(({ path }) =>
    path === '' ? 'input' : path.slice(0, path.length - extname(path).length),
  );
  const counts = new Map<string, number>();
  for (const name of bare) counts.set(name, (counts.get(name) ?? 0) + 1);
  const taken = new Set<string>();
  return inputs.map((input, index) => {
    const stem = counts.get(bare[index]!) === 1 ? bare[index]! : input.path;
    let name = stem;
    for (let number = 2; taken.has(name); number += 1) name = `${stem}-${number}`;
    taken.add(name);
    return { input, stem: `${join(directory, name)}.`, name: format };
  });
}

/** Replaces characters that the service does not accept in the name of a result. */
function safeName(name: string): string {
  const number = /%(0[1-9])?d/.exec(name)?.[0] ?? '';
  const [before = '', after = ''] = number === '' ? ['', name] : name.split(number, 2);
  const safe = (text: string) => text.replace(/[^\p{L}\p{N} ._-]/gu, '_').replace(/\.{2,}/g, '.');
  return `${safe(before)}${number}${safe(after)}`.slice(-150).replace(/^\./, '_');
}

function targetOf(name: string) {
  try {
    const { format, outputName } = readOutputName(name);
    return { format, isPaged: outputName.kind !== 'one' };
  } catch (thrown) {
    throw new UsageError(
      (thrown as ConversionError).message.replace("Parameter 'outfile'", 'The name of a result'),
    );
  }
}

/** Reports results that would replace an input, also by another name of its file. */
function checkInputs(jobs: readonly Job[], inputs: readonly Input[]): void {
  const fileOf = (path: string) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats && `${stats.dev}:${stats.ino}`;
  };
  const sources = new Map(
    inputs.flatMap(({ id, name, open }) => {
      const file = open && fileOf(id);
      return file === undefined ? [] : [[file, { id, name }] as const];
    }),
  );
  const names = [...sources.values()].map(({ id }) => id);
  for (const job of jobs) {
    const to = pathOf(job);
    const direct = fileOf(to);
    const replaced = direct === undefined ? undefined : sources.get(direct)?.name;
    const found = replaced ?? pagesOf(job, names)[0];
    if (found !== undefined)
      throw new UsageError(
        `The result '${to}' would replace the input '${found}'. Add --overwrite to allow it.`,
      );
  }
}

/** Returns those of some paths that a job with `%d` may write to. */
export function pagesOf({ stem, name }: Pick<Job, 'stem' | 'name'>, paths: Iterable<string>): string[] {
  const [before, after] = name.split(/%(?:0[1-9])?d/);
  if (after === undefined) return [];
  const pattern = new RegExp(`^${literal(stem + before)}\\d+${literal(after)}$`);
  return [...paths].filter((path) => pattern.test(path));
}

const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Reports mistakes in options before anything is converted. Checks each tool once. */
function checkOptions(jobs: readonly Job[], tools: readonly Tool[]): void {
  const perTool = new Map(jobs.map(({ query }) => [query[0]!.value, query]));
  for (const query of perTool.values()) {
    try {
      const sent = query.map(({ name, value, input }) => ({ name, value: input ? ANY_UPLOAD : value }));
      readRequest([...sent, { name: 'infile', value: 'https://example.com/' }], tools, { canUpload: true });
    } catch (thrown) {
      if (!(thrown instanceof ConversionError)) throw thrown;
      if (['BAD_PARAMETER', 'UNKNOWN_PARAMETER'].includes(thrown.code)) throw new UsageError(thrown.message);
    }
  }
}

/** Chooses the tool for a file. Returns `undefined` for a URL, whose content only the service reads. */
async function toolForFile(
  { path, open }: Input,
  target: Parameters<typeof chooseTool>[1],
  tools: readonly Tool[],
): Promise<Tool | undefined> {
  if (!open) return undefined;
  const head = Buffer.from(await (await open()).slice(0, HEAD_BYTES).arrayBuffer()).toString('latin1');
  return chooseTool({ head, name: path, contentType: '' }, target, tools);
}
