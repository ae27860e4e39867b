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

function writeEquation(code: string, properties: string): string {
  const [, name = '', first = '', second = ''] =
    /^\\(\w)\s*(?:\\\w+\s*)*\(([^,;()]*)[,;]?([^,;()]*)\)$/.exec(code) ?? [];
  const math = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`;
  const formula = (markup: string) =>
    `<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math">${markup}</m:oMath>`;
  if (/^f$/i.test(name))
    return formula(`<m:f><m:num>${math(first)}</m:num><m:den>${math(second)}</m:den></m:f>`);
  if (/^r$/i.test(name)) {
    const [degree, content] = second === '' ? ['', first] : [first, second];
    return formula(`<m:rad><m:deg>${degree && math(degree)}</m:deg><m:e>${math(content)}</m:e></m:rad>`);
  }
  // Characters on top of each other: most often one in a circle.
  const isCircle = /^o$/i.test(name) && /^[\u25cb\u25ef\u3007Oo]$/.test(first);
  // Of a reading over its word, the word remains.
  const rest = /^\\o/i.test(code) ? code.replace(/^.*[,;]/s, '') : code;
  const text = isCircle ? circled(second) : rest.replace(/\\[a-z]+\s*\d*|[()]/gi, '');
  return `<w:r>${properties}<w:t xml:space="preserve">${text}</w:t></w:r>`;
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
