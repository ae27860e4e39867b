import { resolve } from 'node:path';

/** Environment of an engine that shall see the fonts layer and no other font; its cache lies below `temporary`. */
export function fontEnvironment(layers: string, temporary: string): Readonly<Record<string, string>> {
  return {
    FONTCONFIG_FILE: resolve(layers, 'fonts/fonts.conf'),
    XDG_CACHE_HOME: resolve(temporary, 'cache'),
  };
}
