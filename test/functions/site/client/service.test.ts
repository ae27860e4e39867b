import { expect, it } from 'vitest';
import { hashOf, readHash } from '../../../../functions/site/client/service.ts';

it('restores every option of a call, but no key', () => {
  const state = {
    app: 'doc2any',
    infile: 'https://example.com/a',
    outfile: 'a.pdf',
    options: new Map([
      ['in_ext', ['.csv']],
      ['--landscape', ['1']],
    ]),
  };

  const hash = `${hashOf(state)}&apikey=secret&_key=secret`;

  expect(readHash(hash, 'pdftools', ['in_ext', '--landscape'])).toEqual(state);
});
