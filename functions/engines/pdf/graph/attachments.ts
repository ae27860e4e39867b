import { type Graph, nameTree, type Value } from './graph.ts';

/** Prefix of the names under which qpdf copies attached files of other documents: `docmill-merged-2-note.txt`. */
export const ATTACHED = 'docmill-merged-';

/** Restores the names of attached files of merged documents. A name that is taken gets the document's number. */
export function mergeAttachments(graph: Graph): void {
  const names = graph.dict(graph.root['/Names']);
  const files = [...nameTree(graph, names['/EmbeddedFiles'])];
  if (!files.some(([name]) => name.includes(ATTACHED))) return;
  const taken = new Map<string, Value>();
  for (const [name, file] of files) if (!name.includes(ATTACHED)) taken.set(name, file);
  for (const [name, file] of files) {
    const match = new RegExp(`^u:${ATTACHED}(\\d+)-(.*)$`, 's').exec(name);
    if (!match) continue;
    const plain = `u:${match[2]}`;
    taken.set(taken.has(plain) ? `u:${match[1]}-${match[2]}` : plain, file);
  }
  writeAttachments(graph, taken);
}

/** Replaces the tree of attached files. */
export function writeAttachments(graph: Graph, files: ReadonlyMap<string, Value>): void {
  const sorted = [...files].sort(([one], [other]) => (one < other ? -1 : 1));
  const tree = graph.add({ '/Names': sorted.flat() });
  const names = { ...graph.dict(graph.root['/Names']), '/EmbeddedFiles': tree };
  graph.merge(graph.rootRef, { '/Names': names });
}
