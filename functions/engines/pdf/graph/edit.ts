import { drawAnnotations } from './annotations.ts';
import { ContentEnds } from './content.ts';
import { drawOnPages } from './draw.ts';
import { drawFields, type FieldValue, fillFields } from './fill.ts';
import { type Graph, isDictionary, type ReadStream, type Value } from './graph.ts';
import { layerAppearances, mergeLayers } from './layers.ts';
import { mergeAttachments, mergeNavigation, type Placed } from './merge.ts';
import { Typesetter } from './typesetter.ts';
import type { GraphWork } from './work.ts';

export interface EditRequest {
  /** The documents that were merged, if links and outlines must be restored. */
  readonly sources: readonly Graph[];
  /** Reads the contents of pages, if something is drawn after them. */
  readonly read: ReadStream;
  readonly order: readonly Placed[];
  readonly work: GraphWork;
  /** Values of form fields. */
  readonly values: ReadonlyMap<string, FieldValue> | undefined;
}

const UNTAGGED =
  'The tags for accessibility were removed, because tags of several documents cannot be merged.';

/** Changes a document and returns warnings about parts that are missing in it. */
export function editGraph(graph: Graph, { sources, read, order, work, values }: EditRequest): string[] {
  const warnings: string[] = [];
  // The pages with stamps are at the end.
  const sheets = graph.pages.slice(work.pageCount);
  graph.truncate(work.pageCount);
  if (sources.length > 0) mergeNavigation(graph, sources, order);
  mergeLayers(graph, sources);
  if (sources.length > 1) {
    if (sources.some(({ root }) => root['/StructTreeRoot'] !== undefined)) warnings.push(UNTAGGED);
    removeTags(graph);
    mergeAttachments(graph);
    // Viewers that know XFA forms would show only that of the first document.
    setForm(graph, { '/XFA': null });
  }
  numberLabels(graph, work.pageCount);
  for (const [index, degrees] of work.rotations) {
    const page = graph.pages[index];
    const turned = (((graph.number(page?.dict['/Rotate']) + degrees) % 360) + 360) % 360;
    if (page) graph.merge(page.ref, { '/Rotate': turned });
  }
  const typesetter = new Typesetter(graph, work.fonts);
  if (values) warnings.push(...fillFields(graph, values, typesetter, work.isStrict));
  // qpdf neither draws nor removes fields without an appearance.
  if (values || work.isFlat) drawFields(graph, typesetter);
  if (work.isFlat) drawAnnotations(graph);
  if (values) setForm(graph, { '/NeedAppearances': null, '/XFA': null });
  drawOnPages(graph, sheets, work, typesetter, new ContentEnds(graph, read));
  typesetter.finish();
  const missing = [...typesetter.missing].map(
    (code) => `U+${code.toString(16).toUpperCase().padStart(4, '0')}`,
  );
  if (missing.length > 0)
    warnings.push(`No font has ${missing.slice(0, 16).join(', ')}. Boxes were drawn instead.`);
  if (work.isFlat) layerAppearances(graph);
  if (work.isUnclaimed) graph.merge(graph.rootRef, { '/Metadata': null });
  return warnings;
}

/** Removes the structure tree of the first document. Pages of the others would refer to its elements. */
function removeTags(graph: Graph): void {
  graph.merge(graph.rootRef, { '/StructTreeRoot': null, '/MarkInfo': null });
  for (const { ref } of graph.pages) {
    if (graph.dict(ref)['/StructParents'] !== undefined) graph.merge(ref, { '/StructParents': null });
  }
}

/**
 * Numbers the pages of documents without labels. qpdf merges them without a style, which would show no number. Removes
 * labels after the last page.
 */
function numberLabels(graph: Graph, pageCount: number): void {
  const labels = graph.list(graph.dict(graph.root['/PageLabels'])['/Nums']);
  const numbered: Value[] = [];
  for (let at = 0; at + 1 < labels.length; at += 2) {
    if (graph.number(labels[at]) >= pageCount) continue;
    const label = graph.get(labels[at + 1]);
    const isBare = isDictionary(label) && label['/S'] === undefined && label['/P'] === undefined;
    numbered.push(labels[at]!, isBare ? { ...label, '/S': '/D' } : labels[at + 1]!);
  }
  if (labels.every((label, at) => label === numbered[at])) return;
  graph.merge(graph.rootRef, { '/PageLabels': { '/Nums': numbered } });
}

/** Changes entries of the form dictionary, if there is one. It may be part of the catalog. */
function setForm(graph: Graph, entries: Parameters<Graph['merge']>[1]): void {
  const form = graph.root['/AcroForm'];
  if (form === undefined || Object.keys(entries).every((name) => graph.dict(form)[name] === undefined))
    return;
  if (typeof form === 'string') {
    graph.merge(form, entries);
    return;
  }
  const changed = Object.entries({ ...graph.dict(form), ...entries }).filter(([, value]) => value !== null);
  graph.merge(graph.rootRef, { '/AcroForm': Object.fromEntries(changed) });
}
