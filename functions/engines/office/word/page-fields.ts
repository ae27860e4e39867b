import { type Edit, emptyElement, readMarkup } from '../markup.ts';
import {
  COMPUTED,
  compile,
  constant,
  dependsOnPage,
  MAX_NESTED,
  type Nested,
  placeholder,
} from './formulas.ts';

/** Starts the names of the fields that the macro computes. Their program follows. */
export const PAGE_FIELD = 'docmill_';
/** Maximum length of a program, which the macro runs for each page. */
const MAX_PROGRAM = 2000;
const IN_RUNS = new Set(['w:r', 'w:rPr', 'w:t', 'w:instrText', 'w:fldChar', 'w:fldSimple']);
const CALCULATED = /^\s*(?:IF\b|=)/i;
const BETWEEN_RUNS = new Set(['w:proofErr', 'w:bookmarkStart', 'w:bookmarkEnd']);

/** A field that is being read. */
interface Field {
  readonly start: number;
  readonly nested: Nested[];
  instruction: string;
  isSeparated: boolean;
  /** Whether it contains something other than text and fields in one paragraph. */
  isUnknown: boolean;
  result: string;
  /** Properties of the run of the result, or of the first run if there is no result. */
  properties: string;
}

/**
 * Replaces formulas and conditions in headers and footers that depend on the page, which LibreOffice does not compute, with fields
 * that the macro replaces. Until then, they show the result that Word saved. Fields with anything but text are left alone.
 * @throws Error if the text is not well-formed.
 */
export function pageFieldEdits(part: string): Edit[] {
  const edits: Edit[] = [];
  if (!part.includes('<w:fldChar')) return edits;
  const fields: Field[] = [];
  let [runStart, propertiesStart] = [0, 0];
  let properties = '';
  let type: string | undefined;

  function begin(start: number, { instruction = '', isSeparated = false } = {}) {
    const known = { isUnknown: false, result: '', properties };
    fields.push({ start, nested: [], instruction, isSeparated, ...known });
  }

  function end(finish: number) {
    const field = fields.pop();
    if (!field) return;
    const steps = programOf(field);
    const outer = fields.at(-1);
    if (outer?.isSeparated) outer.result += field.result;
    else if (outer) {
      if (outer.nested.length === MAX_NESTED) outer.isUnknown = true;
      else outer.instruction += placeholder(outer.nested.push(steps) - 1);
    }
    if (outer || field.isUnknown || !CALCULATED.test(field.instruction)) return;
    const program = steps && dependsOnPage(steps) ? steps.join('_') : '';
    // LibreOffice would show nested fields instead of the result.
    if (program || field.nested.length > 0)
      edits.push({ start: field.start, end: finish, text: replacement(program, field) });
  }

  readMarkup(part, {
    open({ name, attributes, start }, path) {
      if (!IN_RUNS.has(name) && !BETWEEN_RUNS.has(name) && !path.includes('w:rPr'))
        for (const field of fields) field.isUnknown = true;
      if (name === 'w:r') [runStart, properties] = [start, ''];
      if (name === 'w:rPr') propertiesStart = start;
      if (name === 'w:fldSimple') begin(start, { instruction: attributes['w:instr'], isSeparated: true });
      if (name === 'w:fldChar') type = attributes['w:fldCharType'];
      if (name === 'w:fldChar' && type === 'begin') begin(runStart);
    },
    text(text, path) {
      const field = fields.at(-1);
      if (path.at(-1) === 'w:instrText' && field && !field.isSeparated)
        field.instruction += text.replace(/[\ue000-\uefff]/g, ' ');
      if (path.at(-1) !== 'w:t' || !field?.isSeparated) return;
      if (field.result === '') field.properties = properties;
      field.result += text;
    },
    close(name, path, finish) {
      const field = fields.at(-1);
      if (name === 'w:rPr' && path.at(-1) === 'w:r') properties = part.slice(propertiesStart, finish);
      if (name === 'w:fldSimple') end(finish);
      if (name === 'w:fldChar' && type === 'separate' && field) field.isSeparated = true;
      if (name !== 'w:r') return;
      // Each mark has a run of its own.
      if (type === 'end') end(finish);
      type = undefined;
    },
  });
  return edits;
}

/** Other fields than the computed ones keep the result that Word saved. */
function programOf({ instruction, nested, isSeparated, isUnknown, result }: Field): Nested {
  if (isUnknown) return undefined;
  if (COMPUTED.test(instruction)) return compile(instruction, nested);
  return isSeparated && !/^\s*SECTION/i.test(instruction) ? constant(result) : undefined;
}

/** Returns a field for the macro, or only the result if there is no program that is short enough. */
function replacement(program: string, { result, properties }: Field): string {
  const run = (content: string) => `<w:r>${properties}${content}</w:r>`;
  const mark = (kind: string) => run(emptyElement('w:fldChar', { 'w:fldCharType': kind }));
  const escaped = result.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const saved = run(`<w:t xml:space="preserve">${escaped}</w:t>`);
  if (program === '' || program.length > MAX_PROGRAM) return saved;
  const name = run(`<w:instrText xml:space="preserve"> DOCPROPERTY ${PAGE_FIELD}${program} </w:instrText>`);
  return mark('begin') + name + mark('separate') + saved + mark('end');
}
