import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { SandboxMode } from '../../shared/settings/sandbox.ts';
import { fontEnvironment } from '../worker/fonts.ts';
import type { WorkerCommand } from '../worker/process.ts';
import { layerPaths, sandboxEnvironment } from '../worker/sandbox.ts';
import { type ProfileOptions, writeProfile } from './profile.ts';

/** One document for the host in the libreoffice layer; see `layers/libreoffice/host.c`. */
export interface HostRequest {
  /** Names of the files, as URLs; see `urlOf`. */
  readonly source: string;
  readonly target: string;
  /** Load options of LibreOfficeKit. */
  readonly load: string;
  /** Extension of the target, by which LibreOfficeKit selects the export filter. Empty if the macro saves it. */
  readonly filter: string;
  /** Options of the export filter. */
  readonly save: string;
  readonly password?: string | undefined;
  /** URL of a macro of the service's profile that runs between loading and saving. */
  readonly macro?: string | undefined;
  /** Maximum number of pages that a spreadsheet may extend over, including empty ones. */
  readonly maxPages?: number | undefined;
  /**
   * CPU seconds for finding the pages of a spreadsheet that extends over more than that, because its
   * print ranges may be small. Without it, such a spreadsheet is rejected at once.
   */
  readonly maxSeconds?: number | undefined;
}

export interface HostReply {
  /** Numbers of the slides or sheets that are not hidden; empty for other documents. */
  readonly shown: readonly number[];
  /** Number of sheets; 0 for other documents. */
  readonly sheets: number;
}

/** The only parts of the file system that the host can open, if the kernel has Landlock. */
interface Place {
  readonly layers: string;
  /** Private directory of the process. */
  readonly home: string;
  readonly sandbox?: SandboxMode | undefined;
}

/** Returns the command of the warm host, which gets its own profile. */
export function hostCommand(place: Place, profile: ProfileOptions): WorkerCommand {
  const { program, start, readable } = installation(place.layers);
  const [command, ...args] = [...start, join(program, 'host'), program, writeProfile(place.home, profile)];
  return {
    command: command!,
    args: [...args, place.home, place.home, ...readable],
    environment: environmentOf(place),
  };
}

/**
 * Returns the URL of a file in the host's working directory. Documents can print their own path, and this one is the same on
 * all machines, and absolute for LibreOffice.
 */
export function urlOf(name: string): string {
  return pathToFileURL(join('/proc/self/cwd', name)).href;
}

/** Returns LibreOffice's program folder, how to start a program with LibreOffice's own loader, and what it may read. */
function installation(layers: string) {
  const office = resolve(layers, 'libreoffice');
  const [program, libraries] = [join(office, 'program'), join(office, 'lib')];
  const loader = ['ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'].find((name) =>
    existsSync(join(libraries, name)),
  );
  return {
    program,
    start: [join(libraries, loader ?? 'ld.so'), '--library-path', `${program}:${libraries}`],
    readable: [...layerPaths(office), ...layerPaths(resolve(layers, 'fonts'))],
  };
}

function environmentOf({ layers, home, sandbox }: Place): Readonly<Record<string, string>> {
  return {
    ...sandboxEnvironment(sandbox),
    ...fontEnvironment(layers, home),
    // Without a locale, LibreOffice cannot open files with names beyond ASCII.
    LANG: 'en_US.UTF-8',
    // Documents without a page size are printed on A4.
    LC_PAPER: 'C',
    LOCPATH: resolve(layers, 'libreoffice/share/locale'),
    // Renders without a screen.
    SAL_USE_VCLPLUGIN: 'svp',
    // In addition to the profile's settings.
    http_proxy: 'http://127.0.0.1:9',
    https_proxy: 'http://127.0.0.1:9',
  };
}
