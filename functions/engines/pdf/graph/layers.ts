import { type Graph, isDictionary, isReference, type Value } from './graph.ts';
import type { Placed } from './navigation.ts';

/** Maximum number of objects that are compared. */
const MAX_VISITS = 200_000;

/**
 * Restores the visibility of layers in merged pages. Without it, hidden layers of all documents but the first would
 * be visible.
 */
export function mergeLayers(merged: Graph, sources: readonly Graph[], order: readonly Placed[]): void {
  const layered = sources.map((graph) => graph.root['/OCProperties'] !== undefined);
  if (!layered.slice(1).some(Boolean)) return;
  const maps = sources.map(() => new Map<string, string>());
  let visits = 0;
  for (const [index, { source, page }] of order.entries()) {
    const [original, copy] = [sources[source]!.pages[page], merged.pages[index]];
    if (!layered[source] || !original || !copy) continue;
    for (const name of ['/Resources', '/Annots'])
      compare(sources[source]!, original.dict[name], copy.dict[name], maps[source]!);
  }
  const all: string[] = [];
  const off: string[] = [];
  const listed: Value[] = [];
  for (const [index, graph] of sources.entries()) {
    const properties = graph.dict(graph.root['/OCProperties']);
    const {
      '/OFF': hidden,
      '/ON': shown,
      '/BaseState': state,
      '/Order': tree,
    } = graph.dict(properties['/D']);
    const copyOf = (ref: Value) => (isReference(ref) ? maps[index]!.get(ref) : undefined);
    const [hiddenRefs, shownRefs] = [graph.list(hidden), graph.list(shown)];
    for (const ref of graph.list(properties['/OCGs'])) {
      const copy = copyOf(ref);
      if (copy === undefined) continue;
      all.push(copy);
      if (hiddenRefs.includes(ref) || (state === '/OFF' && !shownRefs.includes(ref))) off.push(copy);
    }
    listed.push(...treeOf(graph, tree, copyOf, 0));
  }
  if (all.length === 0) return;
  merged.merge(merged.rootRef, {
    '/OCProperties': {
      '/OCGs': all,
      '/D': { '/OFF': off, ...(listed.length > 0 && { '/Order': listed }) },
    },
  });

  /** Walks both copies of an object at once and notes which object became which. */
  function compare(
    graph: Graph,
    one: Value | undefined,
    other: Value | undefined,
    map: Map<string, string>,
  ): void {
    const open: Array<readonly [Value | undefined, Value | undefined]> = [[one, other]];
    for (let pair = open.pop(); pair; pair = open.pop()) {
      visits += 1;
      if (visits > MAX_VISITS) return;
      const [from, to] = pair;
      if (isReference(from) && isReference(to)) {
        if (map.has(from)) continue;
        map.set(from, to);
      }
      const [before, after] = [graph.get(from), merged.get(to)];
      if (Array.isArray(before) && Array.isArray(after)) {
        for (const [at, value] of (before as readonly Value[]).entries())
          open.push([value, (after as readonly Value[])[at]]);
      } else if (isDictionary(before) && isDictionary(after)) {
        for (const [name, value] of Object.entries(before)) {
          if (name !== '/Parent' && name !== '/P') open.push([value, after[name]]);
        }
      }
    }
  }
}

/** Returns the tree in which viewers list layers, with the references of the merged document. */
function treeOf(
  graph: Graph,
  tree: Value | undefined,
  copyOf: (ref: Value) => string | undefined,
  depth: number,
): Value[] {
  if (depth > 10) return [];
  return graph.list(tree).flatMap((each): Value[] => {
    const copy = copyOf(each);
    if (copy !== undefined) return [copy];
    const found = graph.get(each);
    if (typeof found === 'string') return [found];
    return Array.isArray(found) ? [treeOf(graph, each, copyOf, depth + 1)] : [];
  });
}
