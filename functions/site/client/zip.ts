import { downloadZip } from 'client-zip';

/** A file of an archive. */
export interface Entry {
  readonly name: string;
  readonly content: Blob;
}

/** Returns an archive of files, which are stored without compression because results are compressed already. */
export function zipOf(entries: readonly Entry[]): Promise<Blob> {
  const taken = new Set<string>();
  return downloadZip(
    entries.map(({ name, content }) => ({ name: uniqueName(name, taken), input: content })),
  ).blob();
}

/** Numbers a name that is taken, such as `a-2.pdf`. File systems may ignore case. Paths become plain names. */
function uniqueName(name: string, taken: Set<string>): string {
  const plain = name.replace(/[/\\]/g, '_');
  const [, stem = plain, extension = ''] = /^(.+?)(\.[^.]*)?$/.exec(plain) ?? [];
  let unique = plain;
  for (let number = 2; taken.has(unique.toLowerCase()); number += 1) unique = `${stem}-${number}${extension}`;
  taken.add(unique.toLowerCase());
  return unique;
}
