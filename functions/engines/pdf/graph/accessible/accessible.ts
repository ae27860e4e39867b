import { type Dictionary, type Graph, isReference, type ReadStream, textOf, type Value } from '../graph.ts';
import { markArtifacts } from './artifacts.ts';
import { mendStructure, numberTree } from './structure.ts';

/** Maximum depth of forms within each other. */
const MAX_FORMS = 10;
const LANGUAGE = /^[a-z]{1,8}(-[a-z0-9]{1,8})*$/i;

/**
 * Makes a tagged document follow PDF/UA-1, as far as that can be done without knowing what it means. Returns what keeps it
 * from following the standard.
 */
export function makeAccessible(graph: Graph, read: ReadStream): string[] {
  const obstacles = new Set(mendStructure(graph));
  const { root } = graph;
  if (!LANGUAGE.test(textOf(graph.get(root['/Lang'])) ?? ''))
    obstacles.add('The document states no language. The element <html> needs the attribute lang.');
  if (!textOf(graph.get(graph.dict(graph.trailer['/Info'])['/Title']))?.trim())
    obstacles.add('The document has no title. Set one with --title.');
  graph.merge(graph.rootRef, {
    '/MarkInfo': { '/Marked': true },
    '/ViewerPreferences': { ...graph.dict(root['/ViewerPreferences']), '/DisplayDocTitle': true },
  });
  const forms = new Set<string>();
  const parents = new Map(numberTree(graph, graph.dict(root['/StructTreeRoot'])['/ParentTree']));
  for (const [index, { ref, dict }] of graph.pages.entries()) {
    const annotations = graph.list(dict['/Annots']);
    if (annotations.length > 0) graph.merge(ref, { '/Tabs': '/S' });
    for (const annotation of annotations) mendAnnotation(annotation, index + 1);
    adoptForm(ref, dict);
    markPage(ref, dict);
  }
  return [...obstacles];

  /** Describes a link by its target, because its text is already read. */
  function mendAnnotation(annotation: Value, page: number): void {
    const note = graph.dict(annotation);
    const kind = String(graph.get(note['/Subtype'])).slice(1);
    const parent = graph.dict(parents.get(graph.number(note['/StructParent'], -1)));
    if (kind === 'Widget') {
      const isDescribed = [note, graph.dict(note['/Parent'])].some((each) =>
        textOf(graph.get(each['/TU'] ?? null))?.trim(),
      );
      if (graph.get(parent['/S']) !== '/Form')
        obstacles.add(`A form field on page ${page} is not part of the tags.`);
      if (!isDescribed && !textOf(graph.get(parent['/Alt'] ?? null))?.trim())
        obstacles.add(`A form field on page ${page} has no description.`);
      return;
    }
    if (kind !== 'Link') {
      obstacles.add(`Page ${page} has an annotation of type ${kind.slice(0, 30)}.`);
      return;
    }
    if (graph.get(parent['/S']) !== '/Link') obstacles.add(`A link on page ${page} is not part of the tags.`);
    if (textOf(graph.get(note['/Contents']))?.trim() || !isReference(annotation)) return;
    const { '/D': target = note['/Dest'], '/URI': url } = graph.dict(note['/A']);
    const name = graph.get(target);
    const inside = typeof name === 'string' ? `#${name.replace(/^(u:|\/)/, '')}` : `Page ${page}`;
    graph.merge(annotation, { '/Contents': `u:${textOf(graph.get(url)) ?? inside}` });
  }

  /**
   * Lets the structure refer to the form that has the content of a page. qpdf makes such a form of a page that it draws
   * something over.
   */
  function adoptForm(page: string, dict: Dictionary): void {
    const { '/StructParents': key } = dict;
    if (key === undefined || contentOf(dict).includes('/MCID')) return;
    const [form, ...others] = taggedForms(dict['/Resources'], 0);
    if (form === undefined || graph.dict(form)['/StructParents'] !== undefined) return;
    if (others.length > 0) obstacles.add('Tagged pages are drawn over each other.');
    graph.merge(form, { '/StructParents': key });
    graph.merge(page, { '/StructParents': null });
    for (const element of new Set(graph.list(parents.get(graph.number(key))))) {
      if (!isReference(element)) continue;
      const { '/K': kids = [], '/Pg': own } = graph.dict(element);
      const adopted = (Array.isArray(graph.get(kids)) ? graph.list(kids) : [kids]).map((kid) => {
        const entry = graph.dict(kid);
        const isOwn =
          typeof kid === 'number'
            ? own === page
            : entry['/Type'] === '/MCR' && (entry['/Pg'] ?? own) === page;
        const id = typeof kid === 'number' ? kid : (entry['/MCID'] ?? null);
        return isOwn ? { '/Type': '/MCR', '/Pg': page, '/Stm': form, '/MCID': id } : kid;
      });
      graph.merge(element, { '/K': adopted });
    }
  }

  function taggedForms(resources: Value | undefined, depth: number): string[] {
    const objects = Object.values(graph.dict(graph.dict(resources)['/XObject']));
    return objects.flatMap((ref) => {
      if (!isReference(ref) || depth > MAX_FORMS || graph.get(graph.dict(ref)['/Subtype']) !== '/Form')
        return [];
      return read(ref)?.includes('/MCID') ? [ref] : taggedForms(graph.dict(ref)['/Resources'], depth + 1);
    });
  }

  function contentOf({ '/Contents': contents }: Dictionary): string {
    const streams = Array.isArray(graph.get(contents)) ? graph.list(contents) : [contents];
    return streams.map((ref) => read(ref)?.toString('latin1') ?? '').join('\n');
  }

  function markPage(page: string, dict: Dictionary): void {
    const marked = mark(contentOf(dict), dict['/Resources']);
    if (marked !== undefined)
      graph.merge(page, { '/Contents': graph.addStream({}, Buffer.from(marked, 'latin1')) });
  }

  function mark(content: string, resources: Value | undefined): string | undefined {
    const { '/Properties': properties, '/XObject': objects } = graph.dict(resources);
    return markArtifacts(content, {
      isTag: (name) => graph.dict(graph.dict(properties)[`/${name}`])['/MCID'] !== undefined,
      hasTags: (name) => markForm(graph.dict(objects)[`/${name}`]),
    });
  }

  /** Returns whether a form has content that is part of the structure. The rest of it becomes an artifact then. */
  function markForm(ref: Value | undefined): boolean {
    const form = graph.dict(ref);
    if (!isReference(ref) || graph.get(form['/Subtype']) !== '/Form') return false;
    if (!read(ref)?.includes('/MCID') && taggedForms(form['/Resources'], 0).length === 0) return false;
    const { '/Filter': _, '/DecodeParms': __, '/Length': ___, ...own } = form;
    const isMarked = forms.has(ref);
    forms.add(ref);
    const marked = isMarked ? undefined : mark(read(ref)?.toString('latin1') ?? '', form['/Resources']);
    if (marked !== undefined) graph.setStream(ref, own, Buffer.from(marked, 'latin1'));
    return true;
  }
}
