import { join } from 'node:path';
import { unpackPackages } from '../apt.ts';
import { runCommand } from '../command.ts';
import { platform } from './arrange.ts';
import { PINS } from './pins.ts';

/** Compiles `host.c` by a compiler that is unpacked for it and runs by its own loader: a machine needs none of its own. */
export async function compileHost(request: {
  readonly scratch: string;
  readonly output: string;
  readonly cache: string;
  progress(text: string): void;
}): Promise<void> {
  const { scratch, output, cache, progress } = request;
  const { suite, compiler, headers } = PINS;
  await unpackPackages({ packages: compiler, suite, into: scratch, cache, progress });
  await unpackPackages({ packages: headers, dependencies: false, suite, into: scratch, cache, progress });

  const { triplet, loader } = platform();
  const [include, libraries] = [join(scratch, 'usr/include'), join(scratch, 'usr/lib', triplet)];
  const library = (name: string) => join(libraries, name);
  await runCommand(library(loader), [
    ...['--library-path', libraries, join(scratch, 'usr/bin/tcc'), `-B${library('tcc')}`],
    // Only what was unpacked, nothing of this machine: its C library may be older.
    ...[
      '-nostdinc',
      `-I${library('tcc/include')}`,
      `-I${include}`,
      `-I${join(include, triplet)}`,
      '-nostdlib',
    ],
    ...[
      '-Wall',
      '-o',
      output,
      library('crt1.o'),
      library('crti.o'),
      ...['host.c', 'sandbox.c'].map((name) => join(import.meta.dirname, name)),
    ],
    ...[
      library('libc.so.6'),
      library(loader),
      library('libc_nonshared.a'),
      library('tcc/libtcc1.a'),
      library('crtn.o'),
    ],
  ]);
}
