import type { Edit } from '../markup.ts';

/**
 * Functions that LibreOffice may not know: those since Excel 2010, those of add-ins and of other workbooks, and those with small
 * letters, which macros define.
 */
const UNKNOWN = /_xl(?:fn|ws|l|udf)\.|(?<=[\]!a-z][\w.]{0,80})\(|\bCUBE[A-Z]+\(/;
/** Functions whose result changes whenever Excel opens a workbook. */
const VOLATILE = /\b(?:TODAY|NOW|RAND\w*|OFFSET|INDIRECT|CELL|INFO)\(/;
const FORMULA =
  /(<(?:\w+:)?c\b[^<>]*>\s*)<(\w+:)?f\b([^<>]*?)(?:\/>|>([^<>]*)<\/\2?f>)(?=\s*<(?:\w+:)?v>([^<]*))/g;
/** Saved errors that LibreOffice knows. It reads all others as `#NAME?`. */
const KNOWN_ERROR = /^#(?:N(?:ULL!|AME\?|UM!|\/A)|DIV\/0!|VALUE!|REF!)$/;

/**
 * Returns the edits that keep the saved values of formulas that LibreOffice cannot compute. It replaces their text with `#NAME?`.
 */
export function savedValueEdits(sheet: string): Edit[] {
  /** Numbers of the shared formulas that are removed. */
  const shared = new Set<string | undefined>();
  return [...sheet.matchAll(FORMULA)].flatMap(
    ({ index, 0: whole, 1: cell = '', 3: attributes = '', 4: formula = '', 5: value = '' }) => {
      const code = formula.replaceAll('&quot;', '"').replace(/"[^"]*"|'[^']*'(?=!)/g, '');
      const group = /\bsi="(\d+)"/.exec(attributes)?.[1];
      if (UNKNOWN.test(code) && !VOLATILE.test(code)) shared.add(group);
      else if (group === undefined || !shared.has(group)) return [];
      // Programs that compute nothing save no value, or zero.
      if (/^0?$/.test(value) && !/\bt="(?!n")/.test(cell)) return [];
      const text = KNOWN_ERROR.test(value) ? cell : cell.replace('t="e"', 't="str"');
      return [{ start: index, end: index + whole.length, text }];
    },
  );
}

/** Returns the edits that let a sheet on one page begin with its first cell, and not where it was scrolled to. */
export function scrollEdits(sheet: string): Edit[] {
  return removals(
    sheet.slice(0, sheet.indexOf('<sheetData')),
    /(?<=<sheetView\b[^<>]*) topLeftCell="(?!A1")\w+"/g,
  );
}

/** Returns the edits that remove the notes for old versions of Excel where newer ones have a slicer, which LibreOffice does not draw. */
export function slicerEdits(drawing: string): Edit[] {
  if (!drawing.includes('slicer"')) return [];
  return removals(drawing, /<mc:AlternateContent\b.*?<\/mc:AlternateContent>/gs).filter(({ start, end }) =>
    drawing.slice(start, end).includes('slicer"'),
  );
}

function removals(text: string, pattern: RegExp): Edit[] {
  return [...text.matchAll(pattern)].map(({ index, 0: { length } }) => ({
    start: index,
    end: index + length,
    text: '',
  }));
}
