import {
  type Dictionary,
  type Graph,
  isDictionary,
  isReference,
  MAX_DEPTH,
  nameTree,
  textOf,
  type Value,
} from './graph.ts';

/** A page of a merged document: page `page` (from 0) of source `source`. */
export interface Placed {
  readonly source: number;
  readonly page: number;
}

/** A destination in one source. */
interface Target {
  readonly page: number;
  readonly view: readonly Value[];
}

/** An item of an outline, independent of its document. */
export interface OutlineItem {
  readonly title: Value;
  readonly target: Target | undefined;
  readonly action: Dictionary | undefined;
  readonly style: Dictionary;
  readonly isOpen: boolean;
  readonly children: readonly OutlineItem[];
}

/** Maximum number of items of an outline, and of named destinations. */
const MAX_ITEMS = 50_000;

/** Reads the destinations of one source document. */
export class Navigation {
  readonly graph: Graph;
  readonly #pageOf: ReadonlyMap<string, number>;
  readonly named: ReadonlyMap<string, Value>;

  constructor(graph: Graph) {
    this.graph = graph;
    this.#pageOf = new Map(graph.pages.map(({ ref }, index) => [ref, index]));
    const { '/Dests': old, '/Names': names } = graph.root;
    const named = new Map<string, Value>(Object.entries(graph.dict(old)));
    for (const [name, value] of nameTree(graph, graph.dict(names)['/Dests'])) {
      if (named.size < MAX_ITEMS) named.set(name, value);
    }
    this.named = named;
  }

  /** Resolves a destination: an array, a name, or a dictionary with one of them. */
  target(value: Value | undefined, depth = 0): Target | undefined {
    if (value === undefined || value === null || depth > 4) return undefined;
    if (typeof value === 'string' && !isReference(value))
      return this.target(this.named.get(value), depth + 1);
    const found = this.graph.get(value);
    if (isDictionary(found)) return this.target(found['/D'], depth + 1);
    if (typeof found === 'string') return this.target(found, depth + 1);
    if (!Array.isArray(found)) return undefined;
    const [first, ...view] = found as readonly Value[];
    // Some programs write the index of the page.
    const page = isReference(first) ? this.#pageOf.get(first) : first;
    if (typeof page !== 'number' || !this.graph.pages[page]) return undefined;
    return { page, view: view.map((each) => this.graph.get(each)).filter(isPlain) };
  }

  /** Returns the destination of a link or an outline item. */
  targetOf(item: Dictionary): Target | undefined {
    if (item['/Dest'] !== undefined) return this.target(item['/Dest']);
    const action = this.graph.dict(item['/A']);
    return action['/S'] === '/GoTo' ? this.target(action['/D']) : undefined;
  }

  outline(): OutlineItem[] {
    const seen = new Set<string>();
    const read = (first: Value | undefined, depth: number): OutlineItem[] => {
      const items: OutlineItem[] = [];
      let at = first;
      while (isReference(at) && !seen.has(at) && depth < MAX_DEPTH && seen.size < MAX_ITEMS) {
        seen.add(at);
        const item = this.graph.dict(at);
        const { '/C': color, '/F': flags } = item;
        const action = this.graph.dict(item['/A']);
        items.push({
          title: this.graph.get(item['/Title']) ?? 'u:',
          target: this.targetOf(item),
          action: OUTWARD.includes(action['/S'] ?? null) ? copyOf(this.graph, action) : undefined,
          style: {
            ...(color !== undefined && { '/C': this.graph.list(color).filter(isPlain) }),
            ...(flags !== undefined && { '/F': this.graph.number(flags) }),
          },
          isOpen: this.graph.number(item['/Count']) > 0,
          children: read(item['/First'], depth + 1),
        });
        at = item['/Next'];
      }
      return items;
    };
    return read(this.graph.dict(this.graph.root['/Outlines'])['/First'], 0);
  }
}

/** Actions that do not lead to pages of the document. */
const OUTWARD: readonly Value[] = ['/URI', '/GoToR', '/Launch', '/Named'];

/** Returns an action without references, which mean nothing in another document. */
function copyOf(graph: Graph, action: Dictionary): Dictionary {
  const copy = (value: Value, depth: number): Value => {
    const found = graph.isStream(value) || depth > 4 ? null : graph.get(value);
    if (Array.isArray(found)) return (found as readonly Value[]).map((each) => copy(each, depth + 1));
    if (!isDictionary(found)) return found;
    return Object.fromEntries(Object.entries(found).map(([name, each]) => [name, copy(each, depth + 1)]));
  };
  return copy({ ...action, '/Next': null }, 0) as Dictionary;
}

function isPlain(value: Value): boolean {
  return typeof value === 'number' || value === null || (typeof value === 'string' && value.startsWith('/'));
}

/**
 * Restores what qpdf leaves out of merged pages: the outlines, links and named destinations of all sources. `order`
 * names the source of each page.
 */
export function mergeNavigation(
  merged: Graph,
  sources: readonly Graph[],
  order: ReadonlyArray<Placed | undefined>,
): void {
  const navigations = sources.map((graph) => new Navigation(graph));
  const { pages } = merged;
  const places = new Map<string, number[]>();
  for (const [index, placed] of order.entries()) {
    if (!placed) continue;
    const key = `${placed.source}/${placed.page}`;
    places.set(key, [...(places.get(key) ?? []), index]);
  }
  /** Returns the destination in the merged document: the nearest copy of the page, as seen from page `from`. */
  const destination = (source: number, { page, view }: Target, from = 0): Value[] | undefined => {
    const found = places.get(`${source}/${page}`);
    if (!found) return undefined;
    const near = found.reduce((best, each) => (Math.abs(each - from) < Math.abs(best - from) ? each : best));
    return [pages[near]!.ref, ...(view.length > 0 ? view : ['/Fit'])];
  };

  mergeLinks();
  mergeOutlines();
  mergeNames();

  function mergeLinks(): void {
    for (const [index, placed] of order.entries()) {
      if (!placed) continue;
      const { source, page } = placed;
      const navigation = navigations[source]!;
      const original = navigation.graph.pages[page];
      const copy = pages[index];
      if (!original || !copy) continue;
      const annotations = navigation.graph.list(original.dict['/Annots']);
      const copies = merged.list(copy.dict['/Annots']);
      const kept = copies.map((annotation, at): Value => {
        const link = navigation.graph.dict(annotations[at]);
        if (link['/Subtype'] !== '/Link') return annotation;
        const isInternal = link['/Dest'] !== undefined || navigation.graph.dict(link['/A'])['/S'] === '/GoTo';
        if (!isInternal) return annotation;
        const target = navigation.targetOf(link);
        const place = target && destination(source, target, index);
        const { '/A': _, '/Dest': __, ...rest } = merged.dict(annotation);
        const changed = { ...rest, ...(place && { '/Dest': place }) };
        if (!isReference(annotation)) return changed;
        merged.set(annotation, changed);
        return annotation;
      });
      if (kept.some((each, at) => each !== copies[at])) merged.merge(copy.ref, { '/Annots': kept });
    }
  }

  function mergeOutlines(): void {
    const write = (items: readonly OutlineItem[], source: number, parent: string): Written[] =>
      items.flatMap((item): Written[] => {
        const ref = merged.add({});
        const children = write(item.children, source, ref);
        const place = item.target && destination(source, item.target);
        if (!place && !item.action && children.length === 0) {
          merged.set(ref, null);
          return [];
        }
        return [{ ref, parent, item, place, children }];
      });
    const outlines = navigations.map((navigation) => navigation.outline());
    if (outlines.every((items) => items.length === 0)) return;
    const top = merged.add({});
    const items = outlines.flatMap((some, source) => write(some, source, top));
    const count = link(merged, items);
    const [first, last] = [items[0], items.at(-1)];
    if (!first || !last) {
      merged.merge(merged.rootRef, { '/Outlines': null });
      return;
    }
    merged.set(top, { '/Type': '/Outlines', '/First': first.ref, '/Last': last.ref, '/Count': count });
    merged.merge(merged.rootRef, { '/Outlines': top });
  }

  function mergeNames(): void {
    const names = new Map<string, Value>();
    for (const [source, navigation] of navigations.entries()) {
      for (const [name, value] of navigation.named) {
        const target = navigation.target(value);
        const place = target && destination(source, target);
        const key = name.startsWith('/') ? `u:${name.slice(1)}` : name;
        if (place && !names.has(key) && names.size < MAX_ITEMS) names.set(key, place);
      }
    }
    const { '/Dests': _, ...others } = merged.dict(merged.root['/Names']);
    const sorted = [...names].sort(([one], [other]) => Buffer.compare(bytesOf(one), bytesOf(other)));
    const tree = merged.add({ '/Names': sorted.flat() });
    const kept = sorted.length > 0 ? { ...others, '/Dests': tree } : others;
    merged.merge(merged.rootRef, {
      '/Dests': null,
      '/Names': Object.keys(kept).length > 0 ? kept : null,
    });
  }
}

/**
 * Removes links, bookmarks and named destinations that lead to other pages than these indexes, before qpdf removes those
 * pages.
 */
export function pruneNavigation(graph: Graph, pages: readonly number[]): void {
  if (!hasNavigation(graph, pages)) return;
  const kept = new Set(pages);
  const order = graph.pages.map((_, page) => (kept.has(page) ? { source: 0, page } : undefined));
  mergeNavigation(graph, [graph], order);
}

/** Entries of catalogs that are changed when pages are merged or selected. */
const RESTORED = '/Outlines /Dests /Names /OCProperties /StructTreeRoot /MarkInfo /PageLabels'.split(' ');

/** Whether qpdf can merge or select its pages without leaving anything to restore or remove. */
export function isBare(graph: Graph): boolean {
  const { root, pages } = graph;
  return (
    RESTORED.every((name) => root[name] === undefined) &&
    graph.dict(root['/AcroForm'])['/XFA'] === undefined &&
    pages.every(({ ref }) => graph.dict(ref)['/StructParents'] === undefined) &&
    !hasNavigation(graph, [...pages.keys()])
  );
}

/** Whether a document has bookmarks or named destinations, or these pages have links to pages. */
function hasNavigation(graph: Graph, pages: readonly number[]): boolean {
  const { '/Outlines': outlines, '/Dests': old, '/Names': names } = graph.root;
  const isInternal = (annotation: Value) => {
    const link = graph.dict(annotation);
    return (
      link['/Subtype'] === '/Link' &&
      (link['/Dest'] !== undefined || graph.dict(link['/A'])['/S'] === '/GoTo')
    );
  };
  return (
    outlines !== undefined ||
    old !== undefined ||
    graph.dict(names)['/Dests'] !== undefined ||
    pages.some((page) => graph.list(graph.pages[page]?.dict['/Annots']).some(isInternal))
  );
}

/** An outline item that is kept. */
interface Written {
  readonly ref: string;
  readonly parent: string;
  readonly item: OutlineItem;
  readonly place: readonly Value[] | undefined;
  readonly children: readonly Written[];
}

/** Writes the items of one level and everything below, and returns how many are visible. */
function link(graph: Graph, items: readonly Written[]): number {
  let visible = 0;
  for (const [index, { ref, parent, item, place, children }] of items.entries()) {
    const below = link(graph, children);
    visible += 1 + (item.isOpen ? below : 0);
    const [previous, next] = [items[index - 1], items[index + 1]];
    const [first, last] = [children[0], children.at(-1)];
    graph.set(ref, {
      '/Title': item.title,
      '/Parent': parent,
      ...item.style,
      ...(place ? { '/Dest': place } : item.action && { '/A': item.action }),
      ...(previous && { '/Prev': previous.ref }),
      ...(next && { '/Next': next.ref }),
      ...(first &&
        last && { '/First': first.ref, '/Last': last.ref, '/Count': item.isOpen ? below : -below }),
    });
  }
  return visible;
}

/** Returns the bytes by which a name tree is sorted. */
function bytesOf(name: string): Buffer {
  if (name.startsWith('b:')) return Buffer.from(name.slice(2), 'hex');
  const text = name.slice(2);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII.
  if (/^[\x00-\x7f]*$/.test(text)) return Buffer.from(text, 'latin1');
  const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');
  return utf16.swap16();
}

/** Prefix of the names under which qpdf copies attached files of other documents: `docmill-merged-2-note.txt`. */
export const ATTACHED = 'docmill-merged-';

/** Restores the names of attached files of merged documents. A name that is taken gets a number. */
export function mergeAttachments(graph: Graph): void {
  const names = graph.dict(graph.root['/Names']);
  const files = [...nameTree(graph, names['/EmbeddedFiles'])];
  if (!files.some(([name]) => name.includes(ATTACHED))) return;
  const taken = new Map(
    files.filter(([name]) => !name.includes(ATTACHED)).map(([name]) => [name.toLowerCase(), 1]),
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
function writeAttachments(graph: Graph, files: ReadonlyMap<string, Value>): void {
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
  const taken = new Map<string, number>();
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

/**
 * Returns a name that is not taken, in any case. It has a number if the given one is. `taken` has the last number that was
 * tried for each name.
 */
export function freeName(name: string, taken: Map<string, number>): string {
  const [, base, extension = ''] = /^(.*?)(\.[^.]*)?$/s.exec(name)!;
  let free = name;
  let number = taken.get(name.toLowerCase()) ?? 1;
  while (taken.has(free.toLowerCase())) free = `${base} (${++number})${extension}`;
  taken.set(free.toLowerCase(), 1).set(name.toLowerCase(), number);
  return free;
}
