import { ConversionError } from '../errors.ts';
import type { Format, OptionsOf, Tool } from '../tool.ts';
import { createIssues, SHOWN } from './issues.ts';
import { type Given, quote } from './parameters.ts';
import { suggest } from './suggest.ts';

export interface ReadOptions {
  readonly options: Readonly<Record<string, unknown>>;
  /** Names of options that were accepted but have no effect. */
  readonly ignored: readonly string[];
  readonly issues: readonly ConversionError[];
}

/** Reads a tool's options from the pairs that are left after the common parameters, and collects every mistake. */
export function readOptions(tool: Tool, given: readonly Given[], format?: Format): ReadOptions {
  const issues = createIssues();
  const known = Object.entries(tool.parameters);
  const names = known.flatMap(([, { names }]) => names);
  for (const name of new Set(given.map((pair) => pair.name))) {
    if (!names.includes(name) && !tool.ignored.includes(name)) {
      // The search for a similar name is the slowest part, and only the first issues are shown.
      const known = issues.all.length < SHOWN ? names : [];
      issues.add(unknownOption(tool, name, known));
    }
  }

  const options = known.map(([option, parameter]) => {
    const pairs = given.filter((pair) => parameter.names.includes(pair.name));
    if (pairs.length === 0) return [option, parameter.default];
    if (pairs.length > 1 && !parameter.list) issues.add(repeated(pairs));
    return [option, issues.attempt(() => parameter.read(pairs)) ?? parameter.default];
  });
  const ignored = [...new Set(given.map(({ name }) => name).filter((name) => tool.ignored.includes(name)))];
  const read = Object.fromEntries(options);
  for (const issue of tool.validate?.(read, format) ?? []) issues.add(issue);
  return { options: read, ignored, issues: issues.all };
}

/** Returns the default options of a tool. */
export function defaultOptions<T extends Tool>(tool: T): OptionsOf<T> {
  const defaults = Object.entries(tool.parameters).map(([name, parameter]) => [name, parameter.default]);
  return Object.fromEntries(defaults) as OptionsOf<T>;
}

/** Returns the error of a parameter that was given more than once, under any of its names. */
export function repeated(pairs: readonly Given[]): ConversionError {
  const names = [...new Set(pairs.map(({ name }) => `'${name}'`))];
  const subject = names.length === 1 ? 'Parameter' : 'Parameters';
  return new ConversionError(
    'BAD_PARAMETER',
    `${subject} ${names.join(' and ')} must be given at most once, got ${pairs.length} values.`,
  );
}

function unknownOption(tool: Tool, name: string, names: readonly string[]): ConversionError {
  if (tool.refused.includes(name)) {
    const message = `Option ${quote(name)} is not allowed, because it would access files or the network, or run code.`;
    return new ConversionError('BAD_PARAMETER', message);
  }
  const guess = suggest(name, names);
  const hint = guess === undefined ? '' : ` Did you mean '${guess}'?`;
  return new ConversionError('UNKNOWN_PARAMETER', `Unknown option ${quote(name)} for ${tool.name}.${hint}`);
}
