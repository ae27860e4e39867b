import { Scanner } from './content.ts';
import {
  type Dictionary,
  type Graph,
  isDictionary,
  isReference,
  MAX_DEPTH,
  type ReadStream,
  textOf,
  type Value,
} from './graph.ts';

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

const PATH = new Set(['m', 're']);
const PAINT = new Set(['f', 'F', 'f*', 'B', 'B*', 'b', 'b*', 'S', 's']);
const DRAW = new Set(['sh', 'Tj', 'TJ', "'", '"', 'Do', 'BI']);

interface Names {
  /** Whether an entry of the resource `/Properties` refers to the structure of the document. */
  isTag(name: string): boolean;
  /** Whether an XObject has content that is part of the structure. */
  hasTags(name: string): boolean;
}

/**
 * Marks everything in a content stream that is not part of the document's structure as an artifact, which screen
 * readers skip. Returns `undefined` if there is nothing to mark.
 */
export function markArtifacts(content: string, { isTag, hasTags }: Names): string | undefined {
  const artifacts: Array<{ readonly start: number; end: number }> = [];
  const isMarked: boolean[] = [];
  const scanner = new Scanner(content);
  let names: string[] = [];
  let start = 0;
  let path: number | undefined;
  for (let token = scanner.next(); token; token = scanner.next()) {
    if (token.kind === 'name') names.push(token.value);
    if (token.kind !== 'operator') continue;
    const { value } = token;
    if (value === 'BI') scanner.inlineImage();
    if (value === 'BMC' || value === 'BDC') {
      const [tag, ...properties] = names;
      isMarked.push(
        tag === 'Artifact' || (value === 'BDC' && properties.some((name) => name === 'MCID' || isTag(name))),
      );
    } else if (value === 'EMC') isMarked.pop();
    else if (PATH.has(value)) path ??= start;
    else if (value === 'n') path = undefined;
    const isDrawn = (PAINT.has(value) || DRAW.has(value)) && !isMarked.includes(true);
    if (isDrawn && !(value === 'Do' && hasTags(names[0] ?? ''))) {
      const begin = path ?? start;
      const last = artifacts.at(-1);
      if (last?.end === begin) last.end = scanner.position;
      else artifacts.push({ start: begin, end: scanner.position });
    }
    if (PAINT.has(value)) path = undefined;
    names = [];
    start = scanner.position;
  }
  if (artifacts.length === 0) return undefined;
  const parts: string[] = [];
  let done = 0;
  for (const { start: from, end } of artifacts) {
    parts.push(content.slice(done, from), '\n/Artifact BMC', content.slice(from, end), '\nEMC\n');
    done = end;
  }
  return parts.join('') + content.slice(done);
}

/** Structure types of ISO 32000-1, 14.8.4. */
const STANDARD = new Set(
  (
    'Document Part Art Sect Div BlockQuote Caption TOC TOCI Index NonStruct Private P H H1 H2 H3 H4 H5 H6 L LI Lbl LBody ' +
    'Table TR TH TD THead TBody TFoot Span Quote Note Reference BibEntry Code Link Annot Ruby RB RT RP Warichu WT WP ' +
    'Figure Formula Form'
  ).split(' '),
);
/** Standard types for those of PDF 2.0 that Chromium writes. */
const ROLES: Readonly<Record<string, string>> = {
  '/Em': '/Span',
  '/Strong': '/Span',
  '/Sub': '/Span',
  '/Title': '/P',
  '/Aside': '/Sect',
  '/FENote': '/Note',
  '/DocumentFragment': '/Div',
};
/** Types that only group what is in them. */
const GROUPS = ['NonStruct', 'Div', 'Part'];
/** The types that may be within a type, apart from groups. */
const KIDS: Readonly<Record<string, readonly string[]>> = {
  Table: ['TR', 'THead', 'TBody', 'TFoot', 'Caption'],
  THead: ['TR'],
  TBody: ['TR'],
  TFoot: ['TR'],
  TR: ['TH', 'TD'],
  L: ['L', 'LI', 'Caption'],
  LI: ['Lbl', 'LBody'],
};
/** The types that a type may be in, apart from groups. */
const PARENTS: Readonly<Record<string, readonly string[]>> = {
  THead: ['Table'],
  TBody: ['Table'],
  TFoot: ['Table'],
  TR: ['Table', 'THead', 'TBody', 'TFoot'],
  TH: ['TR'],
  TD: ['TR'],
  LI: ['L'],
  LBody: ['LI'],
};
const MAX_ELEMENTS = 500_000;
const MAX_SPAN = 1000;

/** Mends the structure tree of a document, and returns what is left that PDF/UA-1 does not allow. */
export function mendStructure(graph: Graph): string[] {
  const obstacles = new Set<string>();
  const tree = graph.root['/StructTreeRoot'];
  if (!isReference(tree)) return ['The document has no tags.'];
  const roles = { ...ROLES, ...graph.dict(graph.dict(tree)['/RoleMap']) };
  graph.merge(tree, { '/RoleMap': roles });
  const pages = new Map(graph.pages.map(({ ref }, index) => [ref, index + 1]));
  const replaced = new Map<string, string>();
  let level = 0;
  let count = 0;
  visit(tree, { type: '', page: '' }, 0);
  replaceParents(graph, graph.dict(tree)['/ParentTree'], replaced);
  return [...obstacles];

  function visit(ref: string, parent: { readonly type: string; readonly page: string }, depth: number): void {
    count += 1;
    if (depth > MAX_DEPTH || count > MAX_ELEMENTS) {
      obstacles.add('The document has too many tags.');
      return;
    }
    const element = graph.dict(ref);
    let type = ref === tree ? '' : typeOf(element);
    const page = pages.get(String(element['/Pg'])) ?? undefined;
    const where = page === undefined ? parent.page : ` on page ${page}`;
    if (type !== '' && !STANDARD.has(type)) obstacles.add(`The tag ${type.slice(0, 40)} is not defined.`);
    if (PARENTS[type]?.includes(parent.type) === false) {
      type = type === 'TH' || type === 'TD' || type === 'LBody' ? 'Div' : 'NonStruct';
      graph.merge(ref, { '/S': `/${type}` });
    }
    if (type === 'L' || type === 'LI') wrapKids(ref, type);
    if (type === 'Table') checkTable(ref, where);
    if (type === 'Figure') mendFigure(ref, where);
    if (type === 'Formula' && !hasText(element)) obstacles.add(`A formula${where} has no alternative text.`);
    checkHeading(type, where);
    const own = { type: GROUPS.includes(typeOf(graph.dict(ref))) ? parent.type : type, page: where };
    for (const kid of elementsOf(ref)) visit(kid, own, depth + 1);
  }

  function typeOf(element: Dictionary): string {
    let name = graph.get(element['/S']);
    for (let depth = 0; depth < 10 && typeof name === 'string' && roles[name] !== undefined; depth += 1) {
      if (STANDARD.has(name.slice(1))) break;
      name = graph.get(roles[name]);
    }
    return String(name).slice(1);
  }

  function kidsOf(ref: string): readonly Value[] {
    const kids = graph.dict(ref)['/K'];
    return Array.isArray(graph.get(kids)) ? graph.list(kids) : kids === undefined ? [] : [kids];
  }

  function elementsOf(ref: string): string[] {
    return kidsOf(ref).filter(
      (kid): kid is string => isReference(kid) && graph.dict(kid)['/S'] !== undefined,
    );
  }

  /** Returns the elements within an element, without groups. */
  function significantOf(ref: string, depth = 0): string[] {
    if (depth > MAX_DEPTH) return [];
    return elementsOf(ref).flatMap((kid) =>
      GROUPS.includes(typeOf(graph.dict(kid))) ? significantOf(kid, depth + 1) : [kid],
    );
  }

  /** Puts what may not be in a list, or in an item, into an item or its body. */
  function wrapKids(ref: string, type: 'L' | 'LI'): void {
    const isOwn = (kid: Value) => {
      const found = isReference(kid) && graph.dict(kid)['/S'] !== undefined ? typeOf(graph.dict(kid)) : '';
      if (!GROUPS.includes(found)) return KIDS[type]!.includes(found);
      const inner = significantOf(String(kid)).map((each) => typeOf(graph.dict(each)));
      return type === 'L' && inner.length > 0 && inner.every((each) => KIDS.L!.includes(each));
    };
    const kids = kidsOf(ref);
    if (kids.every(isOwn)) return;
    const others = kids.filter((kid) => !isOwn(kid));
    const body = graph.add({ '/Type': '/StructElem', '/S': '/LBody', '/P': ref, '/K': others });
    const { '/Pg': page } = graph.dict(ref);
    if (page !== undefined) graph.merge(body, { '/Pg': page });
    for (const kid of others)
      if (isReference(kid) && graph.dict(kid)['/S'] !== undefined) graph.merge(kid, { '/P': body });
    if (others.some((kid) => !isReference(kid))) replaced.set(ref, body);
    if (type === 'LI') {
      graph.merge(ref, { '/K': [...kids.filter(isOwn), body] });
      return;
    }
    const item = graph.add({ '/Type': '/StructElem', '/S': '/LI', '/P': ref, '/K': [body] });
    graph.merge(body, { '/P': item });
    graph.merge(ref, { '/K': [...kids.filter(isOwn), item] });
  }

  /** Makes a group of a figure that only contains other elements, such as pictures and their caption. */
  function mendFigure(ref: string, where: string): void {
    if (hasText(graph.dict(ref))) return;
    if (elementsOf(ref).length > 0 && elementsOf(ref).length === kidsOf(ref).length)
      graph.merge(ref, { '/S': '/Div' });
    else obstacles.add(`A picture${where} has no alternative text.`);
  }

  function hasText({ '/Alt': alternative, '/ActualText': actual }: Dictionary): boolean {
    return Boolean(textOf(graph.get(alternative))?.trim()) || textOf(graph.get(actual)) !== undefined;
  }

  function checkHeading(type: string, where: string): void {
    const found = Number(/^H([1-6])$/.exec(type)?.[1] ?? 0);
    if (found > level + 1)
      obstacles.add(
        level === 0
          ? `The first heading${where} is H${found}. It must be H1.`
          : `The heading H${found}${where} follows H${level}. No level may be left out.`,
      );
    if (found > 0) level = found;
  }

  /** Completes the rows of a table, or makes a group of what is no table. */
  function checkTable(ref: string, where: string): void {
    const parts = significantOf(ref);
    const rows = parts.flatMap((part) => (typeOf(graph.dict(part)) === 'TR' ? [part] : rowsIn(part)));
    const isTable = [ref, ...parts, ...rows].every((each) => {
      const allowed = KIDS[typeOf(graph.dict(each))];
      return !allowed || significantOf(each).every((kid) => allowed.includes(typeOf(graph.dict(kid))));
    });
    if (!isTable || rows.length === 0) {
      for (const each of [ref, ...parts, ...rows])
        if (typeOf(graph.dict(each)) !== 'Caption') graph.merge(each, { '/S': '/NonStruct' });
      return;
    }
    const taken: boolean[][] = rows.map(() => []);
    for (const [index, row] of rows.entries()) {
      let column = 0;
      for (const cell of significantOf(row)) {
        while (taken[index]![column]) column += 1;
        const [across, down] = ['/ColSpan', '/RowSpan'].map((name) => spanOf(cell, name)) as [number, number];
        if (index + down > rows.length) setSpan(cell, '/RowSpan', rows.length - index);
        for (const line of taken.slice(index, index + down))
          for (let at = column; at < column + across; at += 1) {
            if (line[at]) obstacles.add(`Cells of a table${where} overlap.`);
            line[at] = true;
          }
        column += across;
      }
    }
    const width = Math.max(...taken.map(({ length }) => length));
    for (const [index, row] of rows.entries()) {
      const missing = width - taken[index]!.filter(Boolean).length;
      const cells = Array.from({ length: missing }, () =>
        graph.add({ '/Type': '/StructElem', '/S': '/TD', '/P': row, '/K': [] }),
      );
      if (missing > 0) graph.merge(row, { '/K': [...kidsOf(row), ...cells] });
    }
  }

  function rowsIn(part: string): string[] {
    return significantOf(part).filter((row) => typeOf(graph.dict(row)) === 'TR');
  }

  function attributesOf(cell: string): readonly Value[] {
    const attributes = graph.dict(cell)['/A'];
    return Array.isArray(graph.get(attributes))
      ? graph.list(attributes)
      : attributes === undefined
        ? []
        : [attributes];
  }

  function spanOf(cell: string, name: string): number {
    const found = attributesOf(cell).map((each) => graph.number(graph.dict(each)[name]));
    return Math.min(MAX_SPAN, Math.max(1, ...found));
  }

  function setSpan(cell: string, name: string, span: number): void {
    const others = attributesOf(cell).map((each) => {
      const { [name]: _, ...rest } = graph.dict(each);
      return rest;
    });
    graph.merge(cell, { '/A': [...others, { '/O': '/Table', [name]: span }] });
  }
}

/** Yields the numbers and values of a number tree. */
function* numberTree(graph: Graph, tree: Value | undefined, depth = 0): Generator<readonly [number, Value]> {
  const { '/Nums': numbers, '/Kids': kids } = graph.dict(tree);
  const pairs = graph.list(numbers);
  for (let at = 0; at + 1 < pairs.length; at += 2) yield [graph.number(pairs[at]), pairs[at + 1]!];
  if (depth < MAX_DEPTH) for (const kid of graph.list(kids)) yield* numberTree(graph, kid, depth + 1);
}

/** Lets the contents of elements refer to those that contain them now. */
function replaceParents(graph: Graph, tree: Value | undefined, replaced: ReadonlyMap<string, string>): void {
  if (replaced.size === 0) return;
  for (const [, parents] of numberTree(graph, tree)) {
    if (!isReference(parents) || !Array.isArray(graph.get(parents)) || isDictionary(graph.get(parents)))
      continue;
    const list = graph.list(parents);
    const current = list.map((each) => (isReference(each) ? (replaced.get(each) ?? each) : each));
    if (current.some((each, index) => each !== list[index])) graph.set(parents, current);
  }
}
