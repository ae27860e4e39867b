import { ConversionError } from '../errors.ts';
import { quote } from '../quote.ts';
import type { Tool } from '../tool.ts';
import type { Option, Parameter } from './option.ts';

/**
 * Checks options that arrived in a map, whose order is unknown.
 * @throws ConversionError `BAD_PARAMETER` if the result depends on their order.
 */
export function checkOrder(pairs: readonly Parameter[], tool: Tool): void {
  for (const { order, readers } of Object.values(tool.options)) {
    const [first, second] = order && readers ? namesWithPlace(pairs, order.settings, readers) : [];
    if (first === undefined || second === undefined) continue;
    throw new ConversionError(
      'BAD_PARAMETER',
      `The order of ${quote(first)} and ${quote(second)} matters, but a signed link, API Gateway or an event does not preserve it. Send both, as on a command line, in one parameter: _args=${first} … ${second} …`,
      { parameter: first },
    );
  }
}

/** Returns the names whose position matters: operators, and settings that are given more than once. */
function namesWithPlace(
  pairs: readonly Parameter[],
  settings: ReadonlySet<string>,
  readers: Readonly<Record<string, Option<unknown>>>,
): string[] {
  // Two spellings of one option, such as `-dither` and `+dither`, count as a repetition.
  const ours = new Map(
    Object.values(readers).flatMap((reader) => reader.names.map((name) => [name, reader])),
  );
  const names = pairs.map(({ name }) => name).filter((name) => ours.has(name));
  const isRepeated = (name: string) => names.filter((other) => ours.get(other) === ours.get(name)).length > 1;
  return [...new Set(names)].filter((name) => !settings.has(name) || isRepeated(name));
}
