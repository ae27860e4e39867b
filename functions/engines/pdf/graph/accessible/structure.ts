import {
  type Dictionary,
  type Graph,
  isDictionary,
  isReference,
  MAX_DEPTH,
  textOf,
  type Value,
} from '../graph.ts';

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
export function* numberTree(
  graph: Graph,
  tree: Value | undefined,
  depth = 0,
): Generator<readonly [number, Value]> {
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
