import { Scanner } from './archive/content.ts';
import { type Graph, isReference, type Page, type ReadStream, type Value } from './graph.ts';

/** Operators that end what others begin. */
const ENDS = { BT: 'ET', BMC: 'EMC', BDC: 'EMC', q: 'Q' } as const;

/** Returns the content streams of all pages. */
export function contentStreams(graph: Graph): string[] {
  return [...new Set(graph.pages.flatMap((page) => streamsOf(graph, page)))].filter(isReference);
}

function streamsOf(graph: Graph, { dict: { '/Contents': contents } }: Page): readonly Value[] {
  return Array.isArray(graph.get(contents)) ? graph.list(contents) : contents ? [contents] : [];
}

/** Ends the contents of pages, so that what is drawn after them starts in the state in which they start. */
export class ContentEnds {
  readonly #graph: Graph;
  readonly #read: ReadStream;
  /** Streams by their content. */
  readonly #streams = new Map<string, string>();

  constructor(graph: Graph, read: ReadStream) {
    this.#graph = graph;
    this.#read = read;
  }

  /** Returns the content streams of a page, which save and restore its state. */
  contentsOf(page: Page): readonly Value[] {
    const own = streamsOf(this.#graph, page);
    const parts = own.map((each) => this.#read(each));
    // Streams that cannot be read are taken as complete.
    const text = parts.map((part) => part?.toString('latin1') ?? '').join('\n');
    const { ends, excess } = findEnds(text);
    const isReadable = parts.every((part) => part !== undefined);
    return [
      this.#stream('q\n'),
      ...(isReadable && excess.length > 0 ? [this.#graph.addStream({}, without(text, excess))] : own),
      this.#stream(`\n${ends}Q\n`),
    ];
  }

  #stream(text: string): string {
    const ref = this.#streams.get(text) ?? this.#graph.addStream({}, text);
    this.#streams.set(text, ref);
    return ref;
  }
}

/** Returns the operators that are missing at the end of a content stream, and the places of each `Q` without `q`. */
function findEnds(text: string): { readonly ends: string; readonly excess: readonly number[] } {
  const open = { EMC: 0, ET: 0, Q: 0 };
  const excess: number[] = [];
  const scanner = new Scanner(text);
  for (let token = scanner.next(); token; token = scanner.next()) {
    if (token.kind !== 'operator') continue;
    const { value } = token;
    if (value === 'BI') scanner.inlineImage();
    else if (value === 'BT' || value === 'BMC' || value === 'BDC' || value === 'q') open[ENDS[value]] += 1;
    else if (value === 'EMC' || value === 'ET' || value === 'Q') {
      // Viewers ignore a Q without q. Between other operators that save and restore a state, it would restore that.
      if (open[value] === 0 && value === 'Q') excess.push(scanner.position - 1);
      open[value] = Math.max(0, open[value] - 1);
    }
  }
  return { ends: `${'EMC '.repeat(open.EMC)}${'ET '.repeat(open.ET)}${'Q '.repeat(open.Q)}`, excess };
}

function without(text: string, places: readonly number[]): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  for (const place of places) bytes[place] = 0x20;
  return bytes;
}
