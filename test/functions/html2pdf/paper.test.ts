import { describe, expect, it } from 'vitest';
import { html2pdfOptions } from '../../../functions/html2pdf/options.ts';
import { checkMargins } from '../../../functions/html2pdf/paper.ts';
import { defaultsOf } from '../../../functions/shared/options/read-options.ts';

const defaults = defaultsOf(html2pdfOptions);

describe('margins', () => {
  it('fit on the default paper, and on paper as tall as its content', () => {
    expect([...checkMargins(defaults)]).toEqual([]);
    expect([...checkMargins({ ...defaults, pageHeight: 'auto', marginTop: 400 })]).toEqual([]);
  });

  it.each([
    [
      { marginRight: 200 },
      '--margin-right',
      "Parameters '--margin-right' (200 mm) and '--margin-left' (10 mm) must leave at least 5 mm of the paper's width of 210 mm.",
    ],
    [
      { pageHeight: 25.4, marginTop: 25.4 / 2 },
      '--margin-top',
      "Parameters '--margin-top' (12.7 mm) and '--margin-bottom' (10 mm) must leave at least 5 mm of the paper's height of 25.4 mm.",
    ],
  ])('must leave 5 mm of the paper: %j', (options, parameter, message) => {
    expect([...checkMargins({ ...defaults, ...options })]).toMatchObject([
      { code: 'BAD_PARAMETER', parameter, message },
    ]);
  });
});
