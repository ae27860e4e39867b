import { type Edit, readMarkup } from './markup.ts';

/** Replacements in the markup of slides, layouts and masters, with text that markup has which may need them. */
const REPLACEMENTS: ReadonlyArray<readonly [text: string, pattern: RegExp, by: string]> = [
  // LibreOffice 25.2 wraps lines in a box that is as large as its text. Without it, the box stays as PowerPoint saved it.
  [
    'wrap="none"',
    /(?<=<a:bodyPr\b[^<>]*\bwrap="none"[^<>]*>\s*(?:<a:prstTxWarp\b.{0,500}?)?)<a:spAutoFit\/>/gs,
    '',
  ],
  // LibreOffice claims to know PowerPoint 2010's content, but draws no ink.
  ['<p:contentPart', /(?<=<mc:Choice\b[^<>]*\bRequires=")p14(?="[^<>]*>\s*<p:contentPart\b)/g, 'aink'],
];

/** Boxes that only newer versions of PowerPoint show: their namespaces and what they contain. */
const BOXES =
  /<mc:AlternateContent\b([^<>]*)>\s*<mc:Choice\b([^<>]*)>((?:(?!<\/mc:Choice>).)*)<\/mc:Choice>\s*<\/mc:AlternateContent>/gs;
const FORMULAS = /<a14:m\b.*?<\/a14:m>/gs;

/** Returns the edits for what LibreOffice draws otherwise than PowerPoint. */
export function slideEdits(slide: string): Edit[] {
  return REPLACEMENTS.filter(([text]) => slide.includes(text)).flatMap(([, pattern, text]) =>
    [...slide.matchAll(pattern)].map(({ index, 0: { length } }) => ({
      start: index,
      end: index + length,
      text,
    })),
  );
}

/**
 * Returns the edits that write formulas as text with raised and lowered characters. LibreOffice drops them inside text, and boxes with
 * a formula that have no fallback, with all of their text.
 */
export function formulaEdits(slide: string): Edit[] {
  if (!slide.includes('<a14:m')) return [];
  return [...slide.matchAll(BOXES)].map(
    ({ index, 0: { length }, 1: outer = '', 2: inner = '', 3: content = '' }) => {
      const [own = ''] = /^[^>]*/.exec(content) ?? [];
      const names = [...`${outer} ${inner}`.matchAll(/\b(xmlns:\w+=)"[^"]*"/g)];
      const namespaces = new Map(names.map(([namespace, name = '']) => [name, namespace]));
      const missing = [...namespaces].flatMap(([name, each]) => (own.includes(name) ? [] : each));
      const text = content
        .replace(FORMULAS, (formula, at: number) => formulaText(formula, content.slice(0, at)))
        .replace(/^\s*<[\w:]+/, (tag) => [tag, ...missing].join(' '));
      return { start: index, end: index + length, text };
    },
  );
}

/** Elements of a formula whose text is raised or lowered, in thousandths of a percent of its height. */
const SHIFTS: Readonly<Record<string, string>> = {
  'm:sup': '30000',
  'm:deg': '30000',
  'm:sub': '-25000',
  'm:lim': '-25000',
};
const SIGNS: Readonly<Record<string, string>> = { 'm:den': '/', 'm:rad': '\u221a', 'm:mr': ' ' };
const INTEGRAL = '\u222b';

/** Writes a formula as runs of text. `before` is the markup before it, which has its size. */
function formulaText(formula: string, before: string): string {
  const runs: Array<[text: string, shift: string]> = [];
  const starts: number[] = [];
  let marks = ['(', ')', INTEGRAL];
  const say = (text: string, path: readonly string[]) =>
    runs.push([text, SHIFTS[path.findLast((name) => name in SHIFTS) ?? ''] ?? '0']);
  readMarkup(formula, {
    open({ name, attributes }, path) {
      const mark = ['m:begChr', 'm:endChr', 'm:chr'].indexOf(name);
      if (mark >= 0) marks[mark] = attributes['m:val'] ?? '';
      if (name === 'm:e' && path.at(-1) === 'm:d') say(marks[0]!, path);
      if (name in SIGNS) say(SIGNS[name]!, path);
      starts.push(runs.length);
    },
    text(text, path) {
      if (path.at(-1) === 'm:t') say(text, path);
    },
    close(name, path) {
      const start = starts.pop()!;
      const isGroup = /^m:(num|den)$/.test(name) || (name === 'm:e' && path.at(-1) === 'm:rad');
      if (isGroup && runs.slice(start).flatMap(([text]) => [...text]).length > 1) {
        runs.splice(start, 0, ['(', '0']);
        say(')', path);
      }
      if (name === 'm:naryPr') say(marks[2]!, path);
      if (name === 'm:e' && path.at(-1) === 'm:d') say(marks[1]!, path);
      if (name === 'm:d' || name === 'm:nary') marks = ['(', ')', INTEGRAL];
    },
  });
  const size = before.match(/\bsz="\d+"/g)?.at(-1) ?? '';
  return runs
    .map(([text, shift]) => {
      const written = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
      return `<a:r><a:rPr ${size} baseline="${shift}"><a:latin typeface="Cambria Math"/></a:rPr><a:t>${written}</a:t></a:r>`;
    })
    .join('');
}
