import { expect, it } from 'vitest';
import { readCompact } from '../../../../../../functions/engines/pdf/graph/standard/font-programs.ts';

function index(items: ReadonlyArray<readonly number[]>): number[] {
  if (items.length === 0) return [0, 0];
  const ends = items.map((_, at) => items.slice(0, at + 1).flat().length + 1);
  return [0, items.length, 1, 1, ...ends, ...items.flat()];
}

const int = (value: number) => [28, value >> 8, value & 0xff];
const text = (value: string) => [...Buffer.from(value)];
const ENDCHAR = 14;

/** Makes a font with the glyphs `.notdef`, `A` and `own`, which are the codes 65 and 66. */
function fontOf(a: readonly number[], own: readonly number[]): Buffer {
  const head = [1, 0, 4, 1, ...index([text('F')])];
  const strings = index([text('own')]);
  const subroutines = index([[ENDCHAR]]);
  const charset = [0, ...[34, 391].flatMap((id) => int(id).slice(1))];
  const encoding = [1, 1, 65, 1];
  const programs = index([[ENDCHAR], a, own]);
  // The usual width is 500. Others are added to 300.
  const shared = [...int(500), 20, ...int(300), 21];
  const topOf = (at: number) => {
    const places = [at, at + charset.length, at + charset.length + encoding.length];
    const [first, second, third] = places.map(int);
    const last = int(places[2]! + programs.length);
    return [...first!, 15, ...second!, 16, ...third!, 17, ...int(shared.length), ...last, 18];
  };
  const rest = [...strings, ...subroutines];
  const start = head.length + index([topOf(0)]).length + rest.length;
  return Buffer.from([
    ...head,
    ...index([topOf(start)]),
    ...rest,
    ...charset,
    ...encoding,
    ...programs,
    ...shared,
  ]);
}

it('reads names, codes and widths of glyphs', () => {
  const [minus, plus] = [139 - 50, 139 + 50];
  // The subroutine has the number -107.
  const font = readCompact(fontOf([plus, 139, 139, 21], [minus, 32, 29]));

  expect(font.widths).toEqual(
    new Map([
      ['.notdef', 500],
      ['A', 350],
      ['own', 250],
    ]),
  );
  expect([...font.encoding]).toEqual([
    [65, 'A'],
    [66, 'own'],
  ]);
});

it('refuses damaged programs', () => {
  const font = fontOf([ENDCHAR], [ENDCHAR]);

  expect(() => readCompact(fontOf([5], [ENDCHAR]))).toThrow(RangeError);
  expect(() => readCompact(font.subarray(0, 40))).toThrow(RangeError);
});
