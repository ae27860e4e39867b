import { referenceOf } from '../../functions/shared/options/reference.ts';
import type { Tool } from '../../functions/shared/tool.ts';

/** Width of the lines of a description. */
const WIDTH = 88;

/** Describes the options of the tools whose name is a word, or whose name or description contains it. */
export function describeOptions(word: string, tools: readonly Tool[]): string {
  const wanted = word.toLowerCase();
  const found = tools.flatMap(({ name: tool, ...rest }) =>
    [...referenceOf({ name: tool, ...rest }).values()].flat().map(({ option, ...facts }) => {
      const { names, description } = option;
      const isNamed = names.some((name) => name.toLowerCase() === wanted);
      const isAlike = `${names.join(' ')} ${description}`.toLowerCase().includes(wanted);
      return { tool, names, description, ...facts, isNamed, isAlike };
    }),
  );
  const named = found.filter(({ isNamed }) => isNamed);
  const shown = named.length > 0 ? named : found.filter(({ isAlike }) => isAlike);
  if (shown.length === 0) return `No option of a tool has '${word}' in its name or description.\n`;
  return shown.map((option) => `${textOf(option)}\n`).join('\n');
}

function textOf({
  tool,
  names,
  description,
  rule,
  default: absent,
  scope,
}: {
  readonly tool: string;
  readonly names: readonly string[];
  readonly description: string;
  readonly rule: string;
  readonly default: string | undefined;
  readonly scope: string;
}): string {
  const facts = [
    `Value: ${rule}.`,
    ...(absent === undefined ? [] : [`Default: ${absent}.`]),
    ...(scope === '' ? [] : [`Has an effect ${scope}.`]),
  ];
  const sentence = description.charAt(0).toUpperCase() + description.slice(1);
  const lines = [`${sentence}.`, facts.join(' ')].flatMap((text) => wrap(text.replaceAll('`', '')));
  return [`${tool}: ${names.join(', ')}`, ...lines.map((line) => `    ${line}`)].join('\n');
}

function wrap(text: string): string[] {
  return text.match(new RegExp(`.{1,${WIDTH}}(?:\\s|$)|\\S+`, 'g'))!.map((line) => line.trimEnd());
}
