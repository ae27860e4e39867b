import { distance } from 'fastest-levenshtein';
import { environment } from './environment.ts';

/** A setting: an environment variable with everything about it. */
export interface Setting<Value> {
  /** Meaning, for the guide. */
  readonly text: string;
  /** Default, for the guide. */
  readonly shown: string;
  /** Valid values; completes "must be …". */
  readonly rule: string;
  /** Whether no message may contain the value. */
  readonly isSecret?: boolean;
  /** Returns `undefined` for an invalid value. */
  readonly read: (text: string) => Value | undefined;
  /** Returns the value if the variable is absent or empty. */
  readonly absent: () => Value;
}

type Settings = Readonly<Record<string, Setting<unknown>>>;
type ValuesOf<S extends Settings> = {
  [Name in keyof S]: S[Name] extends Setting<infer Value> ? Value : never;
};
type Environment = Readonly<Record<string, string | undefined>>;

/** Families of names: an unknown name that begins like this is a mistake. */
const FAMILIES = /^(LIMIT_PER_|DEMO_PER_|OPENID_)/;

/**
 * Reads all settings. An empty value counts as absent.
 * @throws Error with one line for each mistake, and for each name that looks like a misspelled one.
 */
export function readAll<const S extends Settings>(
  settings: S,
  variables: Environment = environment,
): ValuesOf<S> {
  const mistakes: string[] = [];
  const values = Object.entries(settings).map(([name, { rule, read, absent, isSecret }]) => {
    const value = variables[name]?.trim();
    if (!value) return [name, absent()] as const;
    const found = read(value);
    const got = isSecret ? '' : `, got '${value.slice(0, 200)}'`;
    if (found === undefined) mistakes.push(`Setting ${name} must be ${rule}${got}.`);
    return [name, found] as const;
  });
  mistakes.push(...misspelled(Object.keys(settings), variables));
  if (mistakes.length > 0) throw new Error(mistakes.join('\n'));
  return Object.fromEntries(values) as ValuesOf<S>;
}

/** Returns an error for each unknown variable whose name is almost that of a setting. */
function misspelled(names: readonly string[], variables: Environment): string[] {
  return Object.keys(variables).flatMap((name) => {
    // Short names, such as PORT, are too similar to those of other programs.
    if (names.includes(name) || name.length < 6 || name.length > 40) return [];
    const edits = (known: string) => distance(name, known);
    const nearest = names.reduce((best, known) => (edits(known) < edits(best) ? known : best));
    const isNear = edits(nearest) <= (name.length < 9 ? 1 : 2) && nearest.length >= 6;
    if (!isNear && !FAMILIES.test(name)) return [];
    return [`There is no setting ${name}. Did you mean ${nearest}?`];
  });
}

interface Described<Value> {
  readonly absent: Value;
  /** Default in the guide, if it is not the value itself. */
  readonly shown?: string;
}

/** Defines a text that meets a rule. */
export function text<Absent extends string | undefined>(
  description: string,
  {
    absent,
    shown = absent ?? '–',
    rule = 'a text',
    isValid = () => true,
    isSecret = false,
  }: Described<Absent> & {
    readonly rule?: string;
    readonly isValid?: (text: string) => boolean;
    readonly isSecret?: boolean;
  },
): Setting<string | Absent> {
  return {
    text: description,
    shown,
    rule,
    isSecret,
    read: (value) => (isValid(value) ? value : undefined),
    absent: () => absent,
  };
}

/** Defines an integer. */
export function integer<Absent extends number | undefined>(
  description: string,
  {
    min,
    max,
    absent,
    shown = absent === undefined ? '–' : String(absent),
  }: Described<Absent> & { readonly min: number; readonly max: number },
): Setting<number | Absent> {
  return {
    text: description,
    shown,
    rule: `an integer from ${min} to ${max}`,
    read: (value) => {
      const number = Number(value);
      return Number.isInteger(number) && number >= min && number <= max ? number : undefined;
    },
    absent: () => absent,
  };
}

/** Defines one of several words, in any case. */
export function choice<Word extends string>(
  description: string,
  { words, absent, shown = `\`${absent}\`` }: Described<Word> & { readonly words: readonly Word[] },
): Setting<Word> {
  return {
    text: description,
    shown,
    rule: words.length === 2 ? words.join(' or ') : `one of ${words.join(', ')}`,
    read: (value) => words.find((word) => word === value.toLowerCase()),
    absent: () => absent,
  };
}

/** Defines a list separated by commas, each of whose parts meets the rule. */
export function list(
  description: string,
  {
    shown = '–',
    rule,
    isValid,
  }: {
    readonly shown?: string;
    readonly rule: string;
    readonly isValid: (part: string) => boolean;
  },
): Setting<readonly string[]> {
  return {
    text: description,
    shown,
    rule,
    read: (value) => {
      const parts = value.split(',').map((part) => part.trim());
      const some = parts.filter((part) => part !== '');
      return some.every(isValid) ? some : undefined;
    },
    absent: () => [],
  };
}

/** Whether a text is a URL with one of these schemes. */
export function isUrl(value: string, schemes: readonly string[]): boolean {
  const url = URL.parse(value);
  return (
    url !== null &&
    schemes.includes(url.protocol.slice(0, -1)) &&
    (url.hostname !== '' || url.protocol === 'mailto:')
  );
}
