/** Positions of the fields of a pattern: where its values are in the pool of values. */
const LENGTH_SHIFT = 26;
const ZEROS_SHIFT = 20;
const MAGIC = 0x62ad7968;
/** Bits for a code point's number in the alphabet. */
const CODE_BITS = 11;

interface Node {
  readonly edges: Map<number, Node>;
  /** Index of its values, or 0 for none. */
  pattern: number;
}

/**
 * Compiles the patterns by which words may be divided at the end of a line, as in Debian's `hyphen-*` packages, into the
 * binary format in which Chromium reads them (`hyb`). Replacements of letters, which the format does not have, are left out.
 */
export function compilePatterns(dictionary: Buffer): Buffer {
  const codes = new Map<string, number>();
  const codeOf = (letter: string) => {
    if (letter === '.') return 0;
    if (!codes.has(letter)) codes.set(letter, codes.size + 1);
    return codes.get(letter)!;
  };
  const root: Node = { edges: new Map(), pattern: 0 };
  const pool: number[] = [];
  const values = new Map<string, number>([['', 0]]);
  const table = [0];
  for (const [letters, numbers] of readPatterns(dictionary)) {
    let node = root;
    for (const letter of letters) {
      const code = codeOf(letter);
      const next = node.edges.get(code) ?? { edges: new Map(), pattern: 0 };
      node.edges.set(code, next);
      node = next;
    }
    const first = numbers.findIndex((value) => value > 0);
    const last = numbers.findLastIndex((value) => value > 0);
    const key = `${numbers.length - 1 - last} ${numbers.slice(first, last + 1).join('')}`;
    if (!values.has(key)) {
      values.set(key, table.length);
      table.push(
        ((last - first + 1) << LENGTH_SHIFT) | ((numbers.length - 1 - last) << ZEROS_SHIFT) | pool.length,
      );
      pool.push(...numbers.slice(first, last + 1));
    }
    node.pattern = values.get(key)!;
  }
  return assemble(alphabetOf(codes), trieOf(root, codes.size, table.length), patternsOf(table, pool));
}

/**
 * Returns the patterns of a dictionary: for letters, the numbers before, between and after them. The ones before `NEXTLEVEL` only
 * divide compounds.
 */
function readPatterns(dictionary: Buffer): Map<string, number[]> {
  const end = dictionary.indexOf('\n');
  const encoding = dictionary
    .toString('latin1', 0, end)
    .trim()
    .replace(/^ISO8859/i, 'ISO-8859');
  const lines = new TextDecoder(encoding).decode(dictionary.subarray(end + 1)).split(/\r?\n/);
  const patterns = new Map<string, number[]>();
  for (const line of lines.slice(lines.indexOf('NEXTLEVEL') + 1)) {
    if (!/^[\p{L}\p{M}\d.'’-]*[1-9][\p{L}\p{M}\d.'’-]*$/u.test(line)) continue;
    const numbers = [0];
    for (const letter of line) {
      if (/\d/.test(letter)) numbers[numbers.length - 1] = Number(letter);
      else numbers.push(0);
    }
    patterns.set(line.replace(/\d/g, ''), numbers);
  }
  return patterns;
}

/** Returns the sorted numbers of letters, of both cases. */
function alphabetOf(codes: ReadonlyMap<string, number>): Buffer {
  const entries = new Map<number, number>();
  for (const [letter, code] of codes) {
    for (const each of [letter.toUpperCase(), letter]) {
      if ([...each].length === 1) entries.set(each.codePointAt(0)!, code);
    }
  }
  const sorted = [...entries].sort(([one], [other]) => one - other);
  return words([1, sorted.length, ...sorted.map(([point, code]) => (point << CODE_BITS) | code)]);
}

/**
 * Packs the trie into one list. A node has a place in it, with its pattern, and an edge is at the place of its node plus the
 * code of its letter.
 */
function trieOf(root: Node, codeCount: number, patternCount: number): Buffer {
  const nodes = mergeNodes(root);
  const isTaken: boolean[] = [];
  const places = new Map<Node, number>();
  const usedPlaces = new Set<number>();
  let firstFree = 0;
  for (const node of nodes) {
    while (isTaken[firstFree]) firstFree += 1;
    const codes = [...node.edges.keys()];
    let place = Math.max(0, firstFree - Math.min(...codes, firstFree));
    while (usedPlaces.has(place) || codes.some((code) => isTaken[place + code])) place += 1;
    usedPlaces.add(place);
    places.set(node, place);
    for (const code of codes) isTaken[place + code] = true;
  }
  const size = Math.max(...usedPlaces) + codeCount + 1;
  const linkShift = bitsOf(codeCount);
  const patternShift = linkShift + bitsOf(size);
  if (patternShift + bitsOf(patternCount) > 32)
    throw new Error('The hyphenation patterns need more than 32 bits.');
  const data = new Array<number>(size).fill(0);
  for (const [node, place] of places) {
    data[place]! += node.pattern * 2 ** patternShift;
    for (const [code, next] of node.edges) data[place + code]! += places.get(next)! * 2 ** linkShift + code;
  }
  const [charMask, linkMask] = [2 ** linkShift - 1, 2 ** patternShift - 2 ** linkShift];
  return words([0, charMask, linkShift, linkMask, patternShift, size, ...data]);
}

/** Merges equal nodes, and returns all, the root first. */
function mergeNodes(root: Node): Node[] {
  const ids = new Map<Node, number>();
  const known = new Map<string, Node>();
  const merge = (node: Node): Node => {
    for (const [code, next] of node.edges) node.edges.set(code, merge(next));
    const edges = [...node.edges].sort(([one], [other]) => one - other);
    const key = `${node.pattern} ${edges.map(([code, next]) => `${code}:${ids.get(next)}`).join()}`;
    const same = known.get(key) ?? node;
    known.set(key, same);
    if (!ids.has(same)) ids.set(same, ids.size);
    return same;
  };
  merge(root);
  return [...ids.keys()].reverse();
}

function patternsOf(table: readonly number[], pool: readonly number[]): Buffer {
  const header = words([0, table.length, 16 + 4 * table.length, pool.length, ...table]);
  return Buffer.concat([header, Buffer.from(pool), Buffer.alloc(-pool.length & 3)]);
}

function assemble(alphabet: Buffer, trie: Buffer, patterns: Buffer): Buffer {
  const [trieAt, patternsAt] = [24 + alphabet.length, 24 + alphabet.length + trie.length];
  const header = words([MAGIC, 0, 24, trieAt, patternsAt, patternsAt + patterns.length]);
  return Buffer.concat([header, alphabet, trie, patterns]);
}

/** Returns unsigned numbers of 32 bits, the lowest byte first. */
function words(numbers: readonly number[]): Buffer {
  return Buffer.from(Uint32Array.from(numbers).buffer);
}

function bitsOf(number: number): number {
  return 32 - Math.clz32(number);
}
