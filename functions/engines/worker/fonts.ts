import { resolve } from 'node:path';

/** Returns the environment that makes fontconfig use only the fonts layer, with its cache below `temporary`. */
export function fontEnvironment(layers: string, temporary: string): Readonly<Record<string, string>> {
  return {
    FONTCONFIG_FILE: resolve(layers, 'fonts/fonts.conf'),
    XDG_CACHE_HOME: resolve(temporary, 'cache'),
  };
}
