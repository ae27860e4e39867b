/** A field from its first to its last run, which has no field in it. */
const FIELD =
  /<w:r(?: [^<>]*)?>(?:(?!<\/?w:r[ >]).)*?w:fldCharType="begin"(?:(?!w:fldCharType="(?:begin|end)").)*w:fldCharType="end"[^<>]*>(?:<\/w:fldChar>)?\s*<\/w:r>/gs;
const INSTRUCTION = /<w:instrText\b[^<>]*>([^<>]*)<\/w:instrText>/g;
/** Ranges of what Unicode has in a circle: from the first to the last number or letter, with the code of the first. */
const CIRCLED: ReadonlyArray<readonly [first: string, last: string, code: number]> = [
  ['0', '0', 0x24ea],
  ['1', '20', 0x2460],
  ['21', '35', 0x3251],
  ['36', '50', 0x32b1],
  ['A', 'Z', 0x24b6],
  ['a', 'z', 0x24d0],
];

/** Writes `EQ` fields as text and formulas, because LibreOffice drops them. */
export function writeEquations(part: string): string {
  if (!/<w:instrText\b[^<>]*>\s*EQ\b/i.test(part)) return part;
  return part.replace(FIELD, (field) => {
    const instruction = [...field.matchAll(INSTRUCTION)]
      .map(([, text]) => text)
      .join('')
      .replace(/\\\*\s*(?:"[^"]*"|&quot;.*?&quot;|\S+)/g, '');
    const [, code] = /^\s*EQ\s+(.*?)\s*$/is.exec(instruction) ?? [];
    const [properties = ''] = /<w:rPr>.*?<\/w:rPr>/s.exec(field) ?? [];
    return code === undefined ? field : writeEquation(code, properties);
  });
}

/** Switches, entities, characters with a meaning, and other text. */
const TOKEN = /\\[a-z]+\s*\d*|\\?&#?\w+;|\\.|[(),;]|[^\\(),;&]+/gis;
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '&lt;': '&gt;' };
/** Where LibreOffice draws a box if there is nothing. */
const NOTHING = '\u200b';
/** Text with words and signs that LibreOffice's own code of formulas has. Of brackets, it would show how it writes them. */
const WORDS = /^(?=.*(?:\p{L}{2}|[%#^_~|"\u200b]|&amp;))[^(){}]*$/su;
const math = (text: string) =>
  `<m:r>${WORDS.test(text.replace(/&[lg]t;/g, '')) ? '<m:rPr><m:nor/></m:rPr>' : ''}<m:t>${text}</m:t></m:r>`;
const textOf = (formula: string) => formula.replace(/<[^<>]*>/g, '');

function writeEquation(code: string, properties: string): string {
  const [formula = ''] = readArguments(code.match(TOKEN) ?? [], false);
  return /<m:(?!r\b|rPr|nor|t\b)/.test(formula)
    ? `<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math">${formula}</m:oMath>`
    : `<w:r>${properties}<w:t xml:space="preserve">${textOf(formula)}</w:t></w:r>`;
}

/** Takes tokens up to a closing parenthesis. Returns the formula of each argument. */
function readArguments(tokens: string[], isInner = true): string[] {
  const formulas = [''];
  let switches: string[] = [];
  for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
    if (token === ')' && isInner) break;
    let formula = '';
    if (token === '(') [formula, switches] = [elementOf(switches, readArguments(tokens)), []];
    else if (/^\\[a-z]/i.test(token) || switches.length > 0) switches.push(token.slice(1).toLowerCase());
    else if (/^[,;]$/.test(token) && isInner) formulas.push('');
    else formula = math(token.replace('\\', ''));
    formulas.push(formulas.pop() + formula);
  }
  return formulas;
}

/** Returns the formula of an element, whose name is the first switch. */
function elementOf([name, ...switches]: readonly string[], formulas: readonly string[]): string {
  const [first = '', second = '', third = ''] = formulas;
  const all = formulas.join(math(','));
  const after = (option: string) =>
    switches.includes(option) ? switches[switches.indexOf(option) + 1] : undefined;
  if (name === undefined) return math('(') + all + math(')');
  if (name === 'f') return `<m:f><m:num>${first}</m:num><m:den>${second}</m:den></m:f>`;
  if (name === 'r') {
    return second === ''
      ? `<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/><m:e>${first}</m:e></m:rad>`
      : `<m:rad><m:deg>${first}</m:deg><m:e>${second}</m:e></m:rad>`;
  }
  if (name === 's') {
    const isLow = switches.some((each) => each.startsWith('do'));
    return isLow
      ? `<m:sSub><m:e>${math(NOTHING)}</m:e><m:sub>${all}</m:sub></m:sSub>`
      : `<m:sSup><m:e>${math(NOTHING)}</m:e><m:sup>${all}</m:sup></m:sSup>`;
  }
  if (name === 'i') {
    const sign = switches.includes('su') ? '\u2211' : switches.includes('pr') ? '\u220f' : '\u222b';
    return `<m:nary><m:naryPr><m:chr m:val="${sign}"/></m:naryPr><m:sub>${first}</m:sub><m:sup>${second}</m:sup><m:e>${third}</m:e></m:nary>`;
  }
  if (name === 'a') {
    const columns = Number(/\d+/.exec(switches.find((each) => each.startsWith('co')) ?? '') ?? 1);
    const cells = formulas.map(
      (cell, index) => `${index % columns ? '' : '</m:mr><m:mr>'}<m:e>${cell}</m:e>`,
    );
    return `<m:m>${cells.join('').replace('</m:mr>', '')}</m:mr></m:m>`;
  }
  if (name === 'b') {
    const open = after('bc') ?? after('lc') ?? (after('rc') ? '' : '(');
    const shut = after('rc') ?? (after('lc') ? '' : (CLOSING[open] ?? open));
    return `<m:d><m:dPr><m:begChr m:val="${open}"/><m:endChr m:val="${shut}"/></m:dPr><m:e>${all}</m:e></m:d>`;
  }
  if (name !== 'o') return all;
  // Characters on top of each other: most often one in a circle. Of a reading over its word, the word remains.
  const isCircle = /^[\u25cb\u25ef\u3007Oo]$/.test(textOf(first).trim());
  return isCircle ? math(circled(textOf(second).trim())) : formulas.at(-1)!;
}

/** Returns a number or letter in a circle. */
function circled(text: string): string {
  const rankOf = (each: string) => (/^\d/.test(each) ? Number(each) : 1000 + each.charCodeAt(0));
  const range = CIRCLED.find(
    ([first, last]) => rankOf(text) >= rankOf(first) && rankOf(text) <= rankOf(last),
  );
  return range && /^(\d+|\w)$/.test(text)
    ? String.fromCharCode(range[2] + rankOf(text) - rankOf(range[0]))
    : `(${text})`;
}
