import { textSetting } from '../../shared/settings/environment.ts';

/**
 * The libraries and the cache of compiled code that Node was started with, for other Node processes and threads. On
 * Lambda, Node may not start without the former.
 */
export function nodeEnvironment(): Readonly<Record<string, string>> {
  const libraries = textSetting('LD_LIBRARY_PATH', undefined);
  const cache = compileCache();
  return { ...(libraries && { LD_LIBRARY_PATH: libraries }), ...(cache && { NODE_COMPILE_CACHE: cache }) };
}

/** Folder with compiled code, which halves the time in which a worker starts. Workers in a sandbox cannot write to it. */
export function compileCache(): string | undefined {
  return textSetting('NODE_COMPILE_CACHE', undefined);
}
