import { type Graph, isDictionary, isReference, nameTree, textOf, type Value } from './graph.ts';

/** Prefix of the names under which qpdf copies attached files of other documents: `docmill-merged-2-note.txt`. */
export const ATTACHED = 'docmill-merged-';

/** Restores the names of attached files of merged documents. A name that is taken gets a number. */
export function mergeAttachments(graph: Graph): void {
  const names = graph.dict(graph.root['/Names']);
  const files = [...nameTree(graph, names['/EmbeddedFiles'])];
  if (!files.some(([name]) => name.includes(ATTACHED))) return;
  const taken = new Set(
    files.filter(([name]) => !name.includes(ATTACHED)).map(([name]) => name.toLowerCase()),
  );
  const merged = files.map(([name, file]): readonly [string, Value] => {
    const original = new RegExp(`^u:${ATTACHED}\\d+-(.*)$`, 's').exec(name)?.[1];
    if (original === undefined) return [name, file];
    const free = freeName(`u:${original}`, taken);
    // Readers show the names in the entry.
    if (free !== `u:${original}` && isReference(file)) graph.merge(file, { '/F': free, '/UF': free });
    return [free, file];
  });
  writeAttachments(graph, new Map(merged));
}

/** Whether the entries of attached files are not all objects of their own, which qpdf requires to copy them. */
export function hasInlineFiles(graph: Graph): boolean {
  const files = [...nameTree(graph, graph.dict(graph.root['/Names'])['/EmbeddedFiles'])];
  return files.some(([, file]) => !isReference(file) || !isDictionary(graph.get(file)));
}

/** Makes the entries of attached files objects of their own. Leaves out what is no file. */
export function separateFiles(graph: Graph): void {
  if (!hasInlineFiles(graph)) return;
  const files = [...nameTree(graph, graph.dict(graph.root['/Names'])['/EmbeddedFiles'])];
  const valid = files.filter(([, file]) => isDictionary(graph.get(file)));
  writeAttachments(
    graph,
    new Map(valid.map(([name, file]) => [name, isReference(file) ? file : graph.add(file)])),
  );
}

/** Replaces the tree of attached files. */
export function writeAttachments(graph: Graph, files: ReadonlyMap<string, Value>): void {
  const sorted = [...files].sort(([one], [other]) => (one < other ? -1 : 1));
  const tree = graph.add({ '/Names': sorted.flat() });
  const names = { ...graph.dict(graph.root['/Names']), '/EmbeddedFiles': tree };
  graph.merge(graph.rootRef, { '/Names': names });
}

/** Yields the entries of files that are attached to the document, by name, and of those that are attached to pages. */
export function* fileEntries(graph: Graph): Generator<readonly [string, Value]> {
  yield* nameTree(graph, graph.dict(graph.root['/Names'])['/EmbeddedFiles']);
  for (const { dict } of graph.pages) {
    const notes = graph.list(dict['/Annots']).map((each) => graph.dict(each));
    for (const note of notes) if (note['/Subtype'] === '/FileAttachment') yield ['', note['/FS'] ?? null];
  }
}

/** A file that is attached to a document or to a page, with the stream of its content. */
interface AttachedFile {
  readonly name: string;
  readonly stream: string;
}

/** Maximum number of attached files. */
const MAX_FILES = 10_000;
const MAX_NAME = 150;

/** Returns the attached files. Their names have no folders and differ from each other, in any case. */
export function attachedFiles(graph: Graph): AttachedFile[] {
  const found = new Map<string, string>();
  const taken = new Set<string>();
  for (const [key, value] of [...fileEntries(graph)].slice(0, MAX_FILES)) {
    const file = graph.dict(value);
    const { '/F': plain, '/UF': unicode = plain } = graph.dict(file['/EF']);
    const stream = graph.isStream(plain) ? plain : unicode;
    if (!isReference(stream) || !graph.isStream(stream) || found.has(stream)) continue;
    const names = [textOf(graph.get(file['/UF'])), textOf(graph.get(file['/F'])), textOf(key)];
    found.set(stream, freeName(safeName(names.find((name) => name) ?? ''), taken));
  }
  return [...found].map(([stream, name]) => ({ name, stream }));
}

/** Returns a name without a folder, and without what file systems do not allow. */
function safeName(name: string): string {
  const last = name.split(/[/\\]/).at(-1)!;
  const cleaned = last.replace(/[\p{C}<>:"|?*]/gu, '_').replace(/^[. ]+|[. ]+$/g, '');
  return cleaned.slice(-MAX_NAME) || 'file';
}

/** Returns a name that is not taken, in any case. It has a number if the given one is. */
export function freeName(name: string, taken: Set<string>): string {
  const [, base, extension] = /^(.*?)(\.[^.]*)?$/s.exec(name)!;
  let free = name;
  for (let number = 2; taken.has(free.toLowerCase()); number += 1)
    free = `${base} (${number})${extension ?? ''}`;
  taken.add(free.toLowerCase());
  return free;
}
