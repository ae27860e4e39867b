import { readFileSync, writeFileSync } from 'node:fs';
/** A value of a PDF object in qpdf's JSON: names start with `/`, texts with `u:`, bytes with `b:`, and `3 0 R` refers. */
export type Value = null | boolean | number | string | readonly Value[] | Dictionary;
export interface Dictionary {
  readonly [name: string]: Value;
}

type Entry = { readonly value: Value } | { readonly stream: Stream };
interface Stream {
  readonly dict: Dictionary;
  /** Base64. Absent for streams whose data stays as it is. */
  readonly data?: string;
}

/** The objects of a PDF without the data of its streams, as `qpdf --json-output` writes them. */
export interface GraphJson {
  readonly qpdf: readonly [
    header: { readonly maxobjectid: number },
    objects: Readonly<Record<string, Entry>>,
  ];
}

/** A page with the attributes that it inherits. */
export interface Page {
  readonly ref: string;
  readonly dict: Dictionary;
}

/** Returns the data of a stream, or `undefined` if they were not read. */
export type ReadStream = (ref: Value | undefined) => Buffer | undefined;

const INHERITED = ['/Resources', '/MediaBox', '/CropBox', '/Rotate'] as const;
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|[-+.\d]+/g;
const REFERENCE = /^\d+ \d+ R$/;
/** Maximum depth of nested trees, which hostile documents nest without end. */
export const MAX_DEPTH = 100;

export function isReference(value: Value | undefined): value is string {
  return typeof value === 'string' && REFERENCE.test(value);
}

export function isDictionary(value: Value | undefined): value is Dictionary {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the text of a string object, or `undefined`. */
export function textOf(value: Value | undefined): string | undefined {
  return typeof value === 'string' && value.startsWith('u:') ? value.slice(2) : undefined;
}

/** Reads and changes the objects of a PDF. Changes are collected for `qpdf --update-from-json`. */
export class Graph {
  readonly #objects: ReadonlyMap<string, Entry>;
  readonly #changed = new Map<string, Entry>();
  #maxId: number;
  #pages: readonly Page[] | undefined;

  constructor({ qpdf: [{ maxobjectid }, objects] }: GraphJson) {
    this.#maxId = maxobjectid;
    this.#objects = new Map(Object.entries(objects));
  }

  /** Follows references. A missing object is null. */
  get(value: Value | undefined): Value {
    let found = value;
    for (let depth = 0; isReference(found); depth += 1) {
      if (depth > MAX_DEPTH) return null;
      const entry = this.#entry(found);
      if (!entry) return null;
      found = 'value' in entry ? entry.value : entry.stream.dict;
    }
    return found ?? null;
  }

  /** Returns a dictionary or a stream's dictionary. Empty if the value is none. */
  dict(value: Value | undefined): Dictionary {
    const found = this.get(value);
    return isDictionary(found) ? found : {};
  }

  list(value: Value | undefined): readonly Value[] {
    const found = this.get(value);
    return Array.isArray(found) ? (found as readonly Value[]) : [];
  }

  number(value: Value | undefined, absent = 0): number {
    const found = this.get(value);
    return typeof found === 'number' && Number.isFinite(found) ? found : absent;
  }

  isStream(value: Value | undefined): boolean {
    return isReference(value) && 'stream' in (this.#entry(value) ?? {});
  }

  /** Returns the data of a stream, if they were read. */
  data(value: Value | undefined): Buffer | undefined {
    const entry = isReference(value) ? this.#entry(value) : undefined;
    const data = entry && 'stream' in entry ? entry.stream.data : undefined;
    return data === undefined ? undefined : Buffer.from(data, 'base64');
  }

  get rootRef(): string {
    const root = this.trailer['/Root'];
    return isReference(root) ? root : '';
  }

  get root(): Dictionary {
    return this.dict(this.rootRef);
  }

  get trailer(): Dictionary {
    const entry = this.#entry('trailer');
    return entry && 'value' in entry && isDictionary(entry.value) ? entry.value : {};
  }

  /** The pages in order, each with its inherited attributes. */
  get pages(): readonly Page[] {
    this.#pages ??= this.#collectPages();
    return this.#pages;
  }

  /** Keeps only the first pages. The document must have been merged by qpdf, which writes a tree of one level. */
  truncate(pageCount: number): void {
    const tree = this.root['/Pages'];
    if (!isReference(tree) || this.pages.length <= pageCount) return;
    this.#pages = this.pages.slice(0, pageCount);
    this.merge(tree, { '/Kids': this.#pages.map(({ ref }) => ref), '/Count': pageCount });
  }

  /** Replaces an object. */
  set(ref: string, value: Value): void {
    this.#changed.set(keyOf(ref), { value });
  }

  /** Merges entries into a dictionary, or the dictionary of a stream. Entries that are null are removed. */
  merge(ref: string, entries: Dictionary): void {
    const dict = Object.fromEntries(
      Object.entries({ ...this.dict(ref), ...entries }).filter(([, value]) => value !== null),
    );
    const isStream = 'stream' in (this.#entry(ref) ?? {});
    this.#changed.set(keyOf(ref), isStream ? { stream: { dict } } : { value: dict });
  }

  /** Adds an object and returns its reference. */
  add(value: Value): string {
    const ref = this.#newRef();
    this.set(ref, value);
    return ref;
  }

  addStream(dict: Dictionary, data: string | Uint8Array): string {
    const ref = this.#newRef();
    this.setStream(ref, dict, data);
    return ref;
  }

  setStream(ref: string, dict: Dictionary, data: string | Uint8Array): void {
    this.#changed.set(keyOf(ref), {
      stream: { dict, data: Buffer.from(data as Uint8Array).toString('base64') },
    });
  }

  /** Returns all objects with their references. */
  *entries(): Generator<readonly [ref: string, value: Value, isStream: boolean]> {
    for (const [key, entry] of this.#objects) {
      if (!key.startsWith('obj:')) continue;
      const isStream = 'stream' in entry;
      yield [key.slice(4), isStream ? entry.stream.dict : entry.value, isStream];
    }
  }

  /** Returns changed objects that are not streams. */
  *changes(): Generator<readonly [ref: string, value: Value]> {
    for (const [key, entry] of this.#changed) if ('value' in entry) yield [key.slice(4), entry.value];
  }

  /** The highest number of an object. */
  get maxId(): number {
    return this.#maxId;
  }

  get isChanged(): boolean {
    return this.#changed.size > 0;
  }

  /** Returns the changes for `qpdf --update-from-json`. */
  update(): GraphJson {
    const header = {
      jsonversion: 2,
      pushedinheritedpageresources: false,
      calledgetallpages: false,
      maxobjectid: this.#maxId,
    };
    return { qpdf: [header, Object.fromEntries(this.#changed)] };
  }

  #entry(ref: string): Entry | undefined {
    const key = keyOf(ref);
    return this.#changed.get(key) ?? this.#objects.get(key);
  }

  #newRef(): string {
    this.#maxId += 1;
    return `${this.#maxId} 0 R`;
  }

  /** Returns a page, whose dictionary is always the current one. */
  #page(ref: string, inherited: Dictionary): Page {
    const current = () => ({ ...inherited, ...this.dict(ref) });
    return {
      ref,
      get dict() {
        return current();
      },
    };
  }

  #collectPages(): Page[] {
    const pages: Page[] = [];
    const seen = new Set<string>();
    const visit = (node: Value | undefined, inherited: Dictionary, depth: number): void => {
      if (!isReference(node) || seen.has(node) || depth > MAX_DEPTH) return;
      seen.add(node);
      const own = this.dict(node);
      const passed = Object.fromEntries(
        INHERITED.flatMap((name) => {
          const value = own[name] ?? inherited[name];
          return value === undefined || value === null ? [] : [[name, value] as const];
        }),
      );
      const kids = this.get(own['/Kids']);
      if (Array.isArray(kids)) for (const kid of kids as readonly Value[]) visit(kid, passed, depth + 1);
      else pages.push(this.#page(node, passed));
    };
    visit(this.root['/Pages'], {}, 0);
    return pages;
  }
}

function keyOf(ref: string): string {
  return ref === 'trailer' ? ref : `obj:${ref}`;
}

/** Yields the names and values of a name tree, in order. */
export function* nameTree(graph: Graph, tree: Value | undefined): Generator<readonly [string, Value]> {
  const seen = new Set<string>();
  const open = [tree ?? null];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (isReference(node)) {
      if (seen.has(node)) continue;
      seen.add(node);
    }
    const { '/Names': names, '/Kids': kids } = graph.dict(node);
    const pairs = graph.list(names);
    for (let at = 0; at + 1 < pairs.length; at += 2) {
      const name = graph.get(pairs[at]);
      if (typeof name === 'string') yield [name, pairs[at + 1]!];
    }
    open.push(...[...graph.list(kids)].reverse());
    if (seen.size > 100_000 || open.length > 100_000) return;
  }
}

/** Writes the changes of a document for qpdf. */
export function writeUpdate(graph: Graph, path: string): void {
  // qpdf (12.3) does not read the empty name, which Chromium writes for links to the top of a page.
  writeFileSync(
    path,
    JSON.stringify(graph.update(), (_, value) => (value === '/' ? null : value)),
  );
}

/** Reads the JSON of a document that qpdf wrote. */
export function readGraph(path: string): Graph {
  // Synchronous: faster than the thread pool, and a process does one thing at a time.
  const text = readFileSync(path, 'utf8');
  try {
    return new Graph(JSON.parse(text) as GraphJson);
  } catch {
    return new Graph(JSON.parse(text.replace(STRING_OR_NUMBER, jsonNumber)) as GraphJson);
  }
}

/** qpdf (12.3) keeps the spelling of numbers, of which JSON does not know all: `+.5` and `-00.5`. */
function jsonNumber(token: string): string {
  return token.startsWith('"') ? token : String(Number(token) || 0);
}
