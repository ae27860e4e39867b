import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EngineDependencies } from '../../shared/tool.ts';
import type { WorkerCommand } from '../worker/process.ts';
import { fontEnvironment, nativeEngine } from '../worker/sandbox.ts';
import { localeEnvironment } from './locale.ts';
import { writeProfile } from './profile.ts';

/** One document for the host in the libreoffice layer; see `layers/libreoffice/main.c`. */
export interface HostRequest {
  /** URLs of the files; see `urlOf`. */
  readonly source: string;
  readonly target: string;
  /** Load options of LibreOfficeKit. */
  readonly load: string;
  /** Extension of the target, which selects LibreOfficeKit's export filter. Empty if the macro saves the file. */
  readonly filter: string;
  /** Options of the export filter. */
  readonly save: string;
  readonly password?: string | undefined;
  /** URL of a macro in the service's profile that runs between loading and saving. */
  readonly macro?: string | undefined;
  /** Maximum number of pages that a spreadsheet may extend over, including empty ones. */
  readonly maxPages?: number | undefined;
  /**
   * CPU seconds to find the pages of a spreadsheet that exceeds `maxPages`, because its print ranges may be small.
   * Without it, such a spreadsheet is rejected immediately.
   */
  readonly maxSeconds?: number | undefined;
  /**
   * Maximum CPU seconds to open and save a document, because LibreOffice repeats the layout of some texts forever.
   */
  readonly layoutSeconds?: number | undefined;
}

export interface HostReply {
  /** Numbers of the slides or sheets that are not hidden; empty for other documents. */
  readonly shown: readonly number[];
  /** Number of sheets; 0 for other documents. */
  readonly sheets: number;
}

/** Returns the command of the warm host, which gets its own profile. `locale` is a name such as `de_DE`. */
export function hostCommand(
  dependencies: Pick<EngineDependencies, 'layers' | 'sandbox'>,
  locale = 'en_US',
): (home: string) => WorkerCommand {
  const { layers } = dependencies;
  const program = resolve(layers, 'libreoffice/program');
  return nativeEngine(dependencies, {
    layer: 'libreoffice',
    program: 'host',
    libraries: [program],
    reads: ['fonts'],
    args: (home) => [program, writeProfile(home)],
    environment: (home) => ({ ...environmentOf(layers), ...localeEnvironment(layers, home, locale) }),
  });
}

/**
 * Returns the URL of a file in the host's working directory. Documents can print their own path, so this URL is the
 * same on all machines, yet absolute, as LibreOffice requires.
 */
export function urlOf(name: string): string {
  return pathToFileURL(join('/proc/self/cwd', name)).href;
}

function environmentOf(layers: string): Readonly<Record<string, string>> {
  return {
    ...fontEnvironment(layers, 'office.conf'),
    // Documents without a page size are printed on A4.
    LC_PAPER: 'C',
    // Makes random numbers start from the same seed for each document; see `restart_random` in main.c.
    SAL_RAND_REPEATABLE: '1',
    // Renders without a screen.
    SAL_USE_VCLPLUGIN: 'svp',
    // Complements the profile's settings.
    http_proxy: 'http://127.0.0.1:9',
    https_proxy: 'http://127.0.0.1:9',
  };
}
