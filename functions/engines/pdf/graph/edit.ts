import { mergeAttachments } from './attachments.ts';
import { type Graph, isDictionary, type Value } from './graph.ts';
import { mergeLayers } from './layers.ts';
import { mergeNavigation } from './navigation.ts';
import type { GraphOperations } from './operations.ts';

type EditRequest = Omit<GraphOperations['edit'], 'graph' | 'target' | 'sources'> & {
  readonly sources: readonly Graph[];
};

const UNTAGGED =
  'The tags for accessibility were removed, because tags of several documents cannot be merged.';

/** Changes a document and returns warnings about parts that are missing in it. */
export function editGraph(graph: Graph, { sources, order, work }: EditRequest): string[] {
  const warnings: string[] = [];
  if (sources.length > 0) {
    mergeNavigation(graph, sources, order);
    mergeLayers(graph, sources, order);
  }
  if (sources.length > 1) {
    if (sources.some(({ root }) => root['/StructTreeRoot'] !== undefined)) warnings.push(UNTAGGED);
    removeTags(graph);
    mergeAttachments(graph);
    numberLabels(graph);
    // Viewers that know XFA forms would show only that of the first document.
    const form = graph.root['/AcroForm'];
    if (form !== undefined && graph.dict(form)['/XFA'] !== undefined) setForm(graph, { '/XFA': null });
  }
  for (const [index, degrees] of work.rotations) {
    const page = graph.pages[index];
    const turned = (((graph.number(page?.dict['/Rotate']) + degrees) % 360) + 360) % 360;
    if (page) graph.merge(page.ref, { '/Rotate': turned });
  }
  return warnings;
}

/** Removes the structure tree of the first document. Pages of the others would refer to its elements. */
function removeTags(graph: Graph): void {
  graph.merge(graph.rootRef, { '/StructTreeRoot': null, '/MarkInfo': null });
  for (const { ref } of graph.pages) {
    if (graph.dict(ref)['/StructParents'] !== undefined) graph.merge(ref, { '/StructParents': null });
  }
}

/** Numbers the pages of documents without labels. qpdf merges them without a style, which would show no number. */
function numberLabels(graph: Graph): void {
  const labels = graph.list(graph.dict(graph.root['/PageLabels'])['/Nums']);
  if (labels.length === 0) return;
  const numbered = labels.map((label): Value => {
    const dict = graph.get(label);
    const isBare = isDictionary(dict) && dict['/S'] === undefined && dict['/P'] === undefined;
    return isBare ? { ...dict, '/S': '/D' } : label;
  });
  graph.merge(graph.rootRef, { '/PageLabels': { '/Nums': numbered } });
}

/** Changes entries of the form dictionary, which may be part of the catalog. */
export function setForm(graph: Graph, entries: Parameters<Graph['merge']>[1]): void {
  const form = graph.root['/AcroForm'];
  if (typeof form === 'string') {
    graph.merge(form, entries);
    return;
  }
  const changed = Object.entries({ ...graph.dict(form), ...entries }).filter(([, value]) => value !== null);
  graph.merge(graph.rootRef, { '/AcroForm': Object.fromEntries(changed) });
}
