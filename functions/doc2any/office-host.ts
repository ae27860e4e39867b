import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { EngineCommand } from '../shared/engine-processes.ts';
import { fontEnvironment } from '../shared/fonts.ts';
import { whereabouts } from '../shared/sandbox.ts';
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
}

/** The warm host, through the layer's own loader and C library, with a profile of its own. */
export function hostCommand(place: Place, profile: { arranging: boolean }): EngineCommand {
  const { home } = place;
  // The child's working directory is another.
  const [layers, conversions] = [resolve(place.layers), resolve(place.conversions)];
  const office = join(layers, 'libreoffice');
  const [program, libraries] = [join(office, 'program'), join(office, 'lib')];
  const loader = ['ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'].find((name) =>
    existsSync(join(libraries, name)),
  );
  return {
    command: join(libraries, loader ?? 'ld.so'),
    args: [
      ...[
        '--library-path',
        `${program}:${libraries}`,
        join(program, 'host'),
        program,
        writeProfile(home, profile),
      ],
      ...[home, conversions, ...whereabouts(office), ...whereabouts(join(layers, 'fonts'))],
    ],
    environment: {
      ...fontEnvironment(layers, home),
      // No screen.
      SAL_USE_VCLPLUGIN: 'svp',
      // One more wall behind the profile's.
      http_proxy: 'http://127.0.0.1:9',
      https_proxy: 'http://127.0.0.1:9',
    },
  };
}
