import { Scanner } from '../archive/content.ts';

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
