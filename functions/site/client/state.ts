/** The call that a person composes: everything except the key and a file. */
export interface State {
  app: string;
  infile: string;
  outfile: string;
  /** Values by option name, in the order in which they were set. */
  options: Map<string, readonly string[]>;
}

const FIELDS = ['app', 'infile', 'outfile'] as const;

/** Reads the hash of a URL. `names` are those of all options. */
export function readHash(hash: string, defaultTool: string, names: readonly string[]): State {
  const pairs = [...new URLSearchParams(hash.replace(/^#/, ''))];
  const value = (wanted: string) => pairs.find(([name]) => name === wanted)?.[1] ?? '';
  const options = new Map<string, readonly string[]>();
  for (const [name, text] of pairs) {
    // Restores only options, because a link must not set a key.
    if (!/^[-+]/.test(name) && !names.includes(name)) continue;
    options.set(name, [...(options.get(name) ?? []), text]);
  }
  return {
    app: value('app') || defaultTool,
    infile: value('infile'),
    outfile: value('outfile'),
    options,
  };
}

/** Returns the hash that restores a state. */
export function hashOf(state: State): string {
  const fields = FIELDS.map((name) => [name, state[name]] as const).filter(([, value]) => value !== '');
  return `#${encodePairs([...fields, ...optionPairs(state)])}`;
}

/** Returns the options as pairs of a query. */
export function optionPairs({ options }: State): ReadonlyArray<readonly [string, string]> {
  return [...options].flatMap(([name, values]) => values.map((value) => [name, value] as const));
}

/** Encodes a query so that it is safe between quotes in every language: without quotes, `!`, `$` and backslashes. */
export function encodePairs(pairs: ReadonlyArray<readonly [string, string]>): string {
  return pairs
    .map(([name, value]) => (value === '' ? encode(name) : `${encode(name)}=${encode(value)}`))
    .join('&');
}

/** Percent-encodes a name or a value. */
export function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /['!()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
