import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fontEnvironment } from '../../shared/worker/fonts.ts';
import type { WorkerCommand } from '../../shared/worker/pool.ts';
import {
  layerPaths,
  nodeEnvironment,
  type SandboxMode,
  sandboxEnvironment,
} from '../../shared/worker/sandbox.ts';
import { writeProfile } from './profile.ts';

/** One document for the host in the libreoffice layer; see `layers/libreoffice/host.c`. All addresses are file URLs. */
export interface HostRequest {
  readonly source: string;
  readonly target: string;
  /** Options of loading. */
  readonly load: string;
  readonly filter: string;
  /** Options of the export filter, as JSON. */
  readonly save: string;
  readonly password?: string | undefined;
  /** Address of a macro of ours, run between loading and saving. */
  readonly macro?: string | undefined;
}

export interface HostReply {
  /** Numbers of the slides that are not hidden; empty for other documents. */
  readonly shown: readonly number[];
}

/** Where the host runs: it sees nothing else of the file system, where the kernel can see to that. */
interface Place {
  readonly layers: string;
  /** Directory of this process alone. */
  readonly home: string;
  /** Directory that holds those of all conversions; their names are not shown to it. */
  readonly conversions: string;
  readonly sandbox?: SandboxMode | undefined;
}

/** One `soffice.bin` a document, which another engine starts; see `office-program.ts`. */
const PROGRAM = fileURLToPath(new URL('./program.ts', import.meta.url));

/** The warm host, with a profile of its own. */
export function hostCommand(place: Place, profile: { arranging: boolean }): WorkerCommand {
  const { program, start, readable } = installation(place.layers);
  const [command, ...args] = [...start, join(program, 'host'), program, writeProfile(place.home, profile)];
  return {
    command: command!,
    args: [...args, place.home, resolve(place.conversions), ...readable],
    environment: environmentOf(place),
  };
}

/** What answers the host's requests where that does not start, as far as it can. */
export function programCommand(place: Place): WorkerCommand {
  // The child's working directory is another.
  const args = [PROGRAM, resolve(place.layers), resolve(place.conversions)];
  return { command: process.execPath, args, environment: { ...nodeEnvironment(), ...environmentOf(place) } };
}

/** Where LibreOffice lies, how one of its programs is started through its own loader and C library, and what that may read. */
export function installation(layers: string) {
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
    // No screen.
    SAL_USE_VCLPLUGIN: 'svp',
    // One more wall behind the profile's.
    http_proxy: 'http://127.0.0.1:9',
    https_proxy: 'http://127.0.0.1:9',
  };
}
