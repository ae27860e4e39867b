import { describe, expect, it } from 'vitest';
import { pageList } from '../../../../functions/shared/options/option.ts';
import {
  checkPageSelection,
  choosePages,
  integers,
  spansOf,
} from '../../../../functions/shared/options/page-selection.ts';

const list = pageList('-pages', { description: 'pages' });
const parse = (value: string) => list.read([{ name: '-pages', value }]);
const COUNT = 10;

/** Returns the pages of a document with ten, or the message of the error. */
function choose({ f, l, pages }: { f?: number; l?: number; pages?: string }) {
  try {
    return choosePages(
      { firstPage: f, lastPage: l, pages: pages === undefined ? undefined : parse(pages) },
      COUNT,
    );
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

describe('-f and -l', () => {
  it.each([
    [{}, undefined],
    [{ f: 9 }, [9, 10]],
    [{ l: 2 }, [1, 2]],
    [{ f: 0, l: 1 }, [1]],
    [{ f: 10, l: 0 }, [10]],
    [{ f: 9, l: 99 }, [9, 10]],
    [{ f: 11 }, "Parameter '-f' is 11, but the document has 10 pages."],
  ])('%j is %j', (options, result) => {
    expect(choose(options)).toEqual(result);
  });
});

describe('a list of pages', () => {
  it.each([
    ['3,1', [3, 1]],
    ['2-4,3', [2, 3, 4]],
    ['9-', [9, 10]],
    ['!1', [10]],
    ['!10', [1]],
    ['!2-!1', [9, 10]],
    ['10-99', [10]],
    ['11', "Parameter '-pages' contains page 11, but the document has 10 pages."],
    ['!11', "Parameter '-pages' contains page !11, but the document has 10 pages."],
    ['9-!5', "Parameter '-pages' contains a range that ends before page 9."],
    ['5-5', [5]],
  ])('%s is %j', (pages, result) => {
    expect(choose({ pages })).toEqual(result);
  });

  it.each(['3,1', '9-,2-4,3', '1-,1-,2-3', '1-5,2-3,7,6', '!2-,5'])(
    '%s is the same in ascending order',
    (pages) => {
      const spans = spansOf(parse(pages)!, COUNT, '-pages');

      const all = spans.flatMap(({ first, last }) => integers(first, last));
      expect(all).toEqual((choose({ pages }) as number[]).toSorted((a, b) => a - b));
    },
  );

  it('may repeat all pages', () => {
    expect(choose({ pages: Array(500).fill('3-,!2,1-').join().split(',').slice(0, 500).join() })).toEqual([
      3, 4, 5, 6, 7, 8, 9, 10, 1, 2,
    ]);
  });

  it('has at most 500 ranges, none of which ends before it begins', () => {
    expect(parse(Array(500).fill('1').join())).toHaveLength(500);
    for (const value of [Array(501).fill('1').join(), '4-3'])
      expect(() => parse(value)).toThrow('a list of pages');
  });
});

it.each([
  [{ firstPage: 3, lastPage: 2, pages: undefined }, 'PAGE_RANGE'],
  [
    { firstPage: 1, lastPage: undefined, pages: integers(1, 1).map((page) => ({ first: page, last: page })) },
    'BAD_PARAMETER',
  ],
])('rejects %j before the document is read', (selection, code) => {
  expect([...checkPageSelection(selection)]).toMatchObject([{ code }]);
});

it('accepts a single page, and any page to the last', () => {
  const all = [
    { firstPage: 2, lastPage: 2, pages: undefined },
    { firstPage: 2, lastPage: 0, pages: undefined },
  ];

  expect(all.flatMap((selection) => [...checkPageSelection(selection)])).toEqual([]);
});
