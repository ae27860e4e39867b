import { expect, it } from 'vitest';
import { type Dictionary, Graph } from '../../../../../functions/engines/pdf/graph/graph.ts';
import { freeName, isBare } from '../../../../../functions/engines/pdf/graph/merge.ts';

it('numbers files of the same name in any case, past the names that others have', () => {
  const taken = new Map<string, number>();
  const names = ['a.txt', 'A.TXT', 'a (3).txt', 'a.txt', 'b', 'B'].map((name) => freeName(name, taken));

  expect(names).toEqual(['a.txt', 'A (2).TXT', 'a (3).txt', 'a (4).txt', 'b', 'B (2)']);
});

it('does not try again the numbers that files of the same name have', () => {
  let tried = 0;
  class Counted extends Map<string, number> {
    override has(name: string) {
      tried += 1;
      return super.has(name);
    }
  }
  const taken = new Counted();

  expect(Array.from({ length: 1000 }, () => freeName('a.txt', taken)).at(-1)).toBe('a (1000).txt');
  expect(tried).toBeLessThan(4000);
});

it.each<[string, boolean, Dictionary, Dictionary]>([
  ['metadata and fields', true, { '/Metadata': '9 0 R', '/AcroForm': { '/Fields': [] } }, {}],
  ['a link to a website', true, {}, { '/Annots': [{ '/Subtype': '/Link', '/A': { '/S': '/URI' } }] }],
  ['a link to a page', false, {}, { '/Annots': [{ '/Subtype': '/Link', '/Dest': ['3 0 R', '/Fit'] }] }],
  ['tagged pages', false, {}, { '/StructParents': 0 }],
  ['an XFA form', false, { '/AcroForm': { '/XFA': [] } }, {}],
  ['bookmarks', false, { '/Outlines': '9 0 R' }, {}],
  ['named destinations or files', false, { '/Names': {} }, {}],
  ['layers', false, { '/OCProperties': {} }, {}],
  ['page labels', false, { '/PageLabels': {} }, {}],
])('knows whether a document with %s can be merged by qpdf alone', (_, expected, catalog, page) => {
  const objects = {
    trailer: { value: { '/Root': '1 0 R' } },
    'obj:1 0 R': { value: { '/Pages': '2 0 R', ...catalog } },
    'obj:2 0 R': { value: { '/Kids': ['3 0 R'] } },
    'obj:3 0 R': { value: { '/Type': '/Page', ...page } },
  };

  expect(isBare(new Graph({ qpdf: [{ maxobjectid: 9 }, objects] }))).toBe(expected);
});
