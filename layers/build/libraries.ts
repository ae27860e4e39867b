import { copyFile, mkdir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { runCommand } from './command.ts';
import { platform } from './platform.ts';

/**
 * Copies the loader and every library that `programs` need from unpacked Debian packages to `into`. The result
 * contains its own C library and runs on any Linux.
 */
export async function copyLibraries(
  programs: readonly string[],
  { unpacked, into }: { unpacked: string; into: string },
): Promise<void> {
  const { triplet, loader } = platform();
  const all = join(unpacked, 'usr/lib', triplet);
  const needed = new Set<string>([loader]);
  for (const program of programs) {
    const listed = await runCommand(join(all, loader), ['--library-path', all, '--list', program]);
    const missing = /^\s*(\S+) => not found/m.exec(listed)?.[1];
    if (missing)
      throw new Error(`${basename(program)} needs ${missing}, which no package of the layer contains.`);
    for (const file of listedFiles(listed)) needed.add(basename(file));
  }
  await mkdir(into, { recursive: true });
  for (const name of needed) await copyFile(await realpath(join(all, name)), join(into, name));
}

/** Returns the paths in a loader's list of libraries. Folders may have spaces in their names. */
export function listedFiles(listed: string): string[] {
  return [...listed.matchAll(/ => (\/.+) \(0x[0-9a-f]+\)$/gm)].map(([, file]) => file!);
}
