/** The only code that reads `process.env`. Each setting is read and checked once, at startup. */
export const environment: Readonly<Record<string, string | undefined>> = process.env;

/** Reads a text setting. An empty value counts as absent. */
export function textSetting<Default extends string | undefined>(
  name: string,
  absent: Default,
): string | Default {
  return environment[name]?.trim() || absent;
}

/** Reads an integer from `min` to `max`. */
export function numberSetting(
  name: string,
  absent: number,
  { min, max }: { min: number; max: number },
): number {
  const text = textSetting(name, String(absent));
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`Setting ${name} must be an integer from ${min} to ${max}, got '${text}'.`);
}

/** Reads one of several words. */
export function choiceSetting<Choice extends string>(
  name: string,
  choices: readonly Choice[],
  absent: Choice,
): Choice {
  const text = textSetting(name, absent);
  const choice = choices.find((known) => known === text.toLowerCase());
  if (choice !== undefined) return choice;
  throw new Error(`Setting ${name} must be one of ${choices.join(', ')}, got '${text}'.`);
}

/** Whether a text is an origin as in `Origin` headers, or `*`. */
export function isOrigin(text: string): boolean {
  return text === '*' || URL.parse(text)?.origin === text;
}

/** Reads an http or https origin such as `https://convert.example.com`. */
export function originSetting(name: string): string | undefined {
  const value = textSetting(name, undefined);
  if (value === undefined) return undefined;
  const url = URL.parse(value);
  if (url && /^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search) return url.origin;
  throw new Error(
    `Setting ${name} must be an http or https origin such as https://convert.example.com, got '${value}'.`,
  );
}
