/** The only code that reads `process.env`. Each setting is read and checked once, at startup. */
const environment: Readonly<Record<string, string | undefined>> = process.env;

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

/** Reads `on` or `off`. */
export function switchSetting(name: string, absent: boolean): boolean {
  return choiceSetting(name, ['on', 'off'], absent ? 'on' : 'off') === 'on';
}

/** Reads a comma-separated list. */
export function listSetting(name: string): string[] {
  const parts = textSetting(name, '').split(',');
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** Whether a text is an origin as in `Origin` headers, or `*`. */
export function isOrigin(text: string): boolean {
  return text === '*' || URL.parse(text)?.origin === text;
}

/** Reads a comma-separated list of http and https origins, or `*`. */
export function originsSetting(name: string): string[] {
  const origins = listSetting(name);
  const wrong = origins.find((origin) => !isOrigin(origin));
  if (wrong === undefined) return origins;
  throw new Error(`Setting ${name} must be * or origins such as https://www.example.com, got '${wrong}'.`);
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
