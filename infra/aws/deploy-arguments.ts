import { parseArgs } from 'node:util';

/** Builds the layers from the newest packages first. */
export const UPDATE = '--update';

/** Options that the other commands have too, and that the CDK's app reads as context. */
const CONTEXT = ['stage', 'settings'];

/**
 * Returns the arguments of `cdk deploy`. `--stage` and `--settings` become its context. Without a terminal, the CDK could
 * not ask for approval.
 */
export function deployArguments(
  args: readonly string[],
  { hasTerminal }: { hasTerminal: boolean },
): string[] {
  const { tokens } = parseArgs({
    args: [...args],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: { stage: { type: 'string' }, settings: { type: 'string' } },
  });
  const taken = new Set<number>();
  const context = tokens.flatMap((token) => {
    if (token.kind !== 'option' || !CONTEXT.includes(token.name)) return [];
    if (token.value === undefined) throw new Error(`--${token.name} needs a value.`);
    taken.add(token.index);
    if (!token.inlineValue) taken.add(token.index + 1);
    return ['-c', `${token.name}=${token.value}`];
  });
  const own = args.filter((arg, index) => !taken.has(index) && arg !== UPDATE);
  const asks = hasTerminal || own.some((arg) => arg.startsWith('--require-approval'));
  return [...own, ...context, ...(asks ? [] : ['--require-approval', 'never'])];
}
