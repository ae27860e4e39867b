import { expect, it } from 'vitest';
import type { Tool } from '../../../../functions/shared/tool.ts';
import { matcherOf } from '../../../../functions/site/client/find-options.ts';
import { doc2any, html2pdf, imageproc, pdftools } from '../../../../functions/tools.ts';

/** Returns the names of the options that a query finds. */
function find(tool: Tool, query: string): string[] {
  const matches = matcherOf(query);
  const options = Object.values(tool.options).flatMap((option) =>
    Object.values(option.readers ?? { option }),
  );
  return options
    .filter(({ names, description, rule }) => matches([...names, description, rule].join(' ').toLowerCase()))
    .flatMap(({ names }) => names);
}

it.each([
  ['landscape', '--orientation', html2pdf],
  ['A4', '--page-size', html2pdf],
  ['black and white', '--grayscale', html2pdf],
  ['black and white', '-monochrome', imageproc],
  ['compress', '-quality', imageproc],
  ['mirror', '-flop', imageproc],
  ['merge', '-append', pdftools],
  ['compr', '-optimize', pdftools],
  ['DPI', '-r', pdftools],
  ['protect', '-encrypt', pdftools],
  ['protect', '--encrypt', doc2any],
] as const)('%s finds %s', (query, name, tool) => {
  expect(find(tool as Tool, query)).toContain(name);
});

it('finds nothing for words that no option has', () => {
  expect(find(imageproc as Tool, 'zebra')).toEqual([]);
});
