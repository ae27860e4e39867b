import { type ParseArgsConfig, parseArgs } from 'node:util';

/** Returns the flags and positional arguments of a command. Prints how to use it and exits with 2 if they are wrong. */
export function readArguments<Options extends NonNullable<ParseArgsConfig['options']>>(
  usage: string,
  options: Options,
) {
  const fail = (reason: string): never => {
    process.stderr.write(`${reason}\nUsage: ${usage}\n`);
    process.exit(2);
  };
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    return { values, positionals, fail };
  } catch (thrown) {
    return fail((thrown as Error).message);
  }
}

/** Returns the value of a flag as an integer within bounds, or fails. */
export function readInteger(
  [name, text]: readonly [name: string, text: string],
  { min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number },
  fail: (reason: string) => never,
): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  return fail(`--${name} is an integer from ${min}${max < Number.MAX_SAFE_INTEGER ? ` to ${max}` : ''}.`);
}

/** Returns those names that were asked for, all if none was. Fails for names that do not exist. */
export function chooseNames(
  all: readonly string[],
  asked: readonly string[],
  fail: (reason: string) => never,
): readonly string[] {
  const unknown = asked.filter((name) => !all.includes(name));
  if (unknown.length > 0) return fail(`Unknown: ${unknown.join(', ')}. There are ${all.join(', ')}.`);
  return asked.length > 0 ? asked : all;
}
