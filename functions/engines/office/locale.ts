import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The locale of documents that name no language, unless the caller or the operator sets another one. */
export const DEFAULT_LOCALE = 'en-US';

/** The locale that the layer has a folder for. */
const LAYER_LOCALE = 'en_US';

/**
 * Returns the name that the C library has for a language tag, such as `de_DE` for `de`, or `undefined` if the tag is not valid, not
 * known or has no region.
 */
export function systemLocaleOf(tag: string): string | undefined {
  try {
    const { language, region } = new Intl.Locale(tag).maximize();
    const isKnown = Intl.DateTimeFormat.supportedLocalesOf([tag]).length > 0;
    return isKnown && region !== undefined && /^[A-Z]{2}$/.test(region) ? `${language}_${region}` : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Makes a locale available to a process below its private directory, and returns its environment variables. LibreOffice has data for
 * many locales of its own, and needs the C library only to accept the name.
 */
export function localeEnvironment(
  layers: string,
  home: string,
  locale: string,
): Readonly<Record<string, string>> {
  const name = `${locale}.UTF-8`;
  const own = resolve(layers, 'libreoffice/share/locale');
  if (locale === LAYER_LOCALE) return { LANG: name, LOCPATH: own };
  const folder = join(home, 'locale', name);
  mkdirSync(folder, { recursive: true });
  const characters = join(folder, 'LC_CTYPE');
  if (!existsSync(characters)) symlinkSync(join(own, `${LAYER_LOCALE}.UTF-8/LC_CTYPE`), characters);
  return { LANG: name, LOCPATH: join(home, 'locale') };
}
