import { expect, it } from 'vitest';
import { readType1 } from '../../../../../../functions/engines/pdf/graph/standard/font-programs.ts';

/** Encrypts a part of a Type 1 font program. Four bytes come before it. */
function encrypt(bytes: Buffer, key: number): Buffer {
  let state = key;
  return Buffer.from([...Buffer.alloc(4), ...bytes]).map((byte) => {
    const cipher = byte ^ (state >> 8);
    state = ((cipher + state) * 52_845 + 22_719) & 0xffff;
    return cipher;
  }) as Buffer;
}

/** Makes a program with one glyph. */
function fontOf(glyph: readonly number[]) {
  const head = Buffer.from('/FontMatrix [0.001 0 0 0.001 0 0] def dup 65 /A put\neexec\n');
  const code = encrypt(Buffer.from(glyph), 4330);
  const body = Buffer.concat([
    Buffer.from(`/CharStrings 1 dict /A ${code.length} RD `),
    code,
    Buffer.from(' ND'),
  ]);
  return readType1(Buffer.concat([head, encrypt(body, 55_665)]), head.length);
}

it.each([
  ['hsbw', [139, 247 + 1, 136, 13], 500],
  ['a quotient', [139, 248, 136, 141, 12, 12, 13], 250],
  ['sbw', [139, 139, 239, 139, 12, 7], 100],
])('reads the width of a glyph from %s', (_, glyph, width) => {
  const { widths, encoding } = fontOf(glyph);

  expect(widths).toEqual(new Map([['A', width]]));
  expect(encoding.get(65)).toBe('A');
});

it('refuses a glyph without a width', () => {
  expect(() => fontOf([14])).toThrow(RangeError);
  expect(() => fontOf([])).toThrow(RangeError);
});
