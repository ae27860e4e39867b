import { expect, it } from 'vitest';
import { readFieldValues } from '../../../../../functions/engines/pdf/graph/fill.ts';

const read = (text: string) => Object.fromEntries(readFieldValues(Buffer.from(text)));
const xfdf = (value: string) => read(`<xfdf><fields><field name="a">${value}</field></fields></xfdf>`);

it('reads numbers as they are written', () => {
  const values = read('{"a": 12.50, "b": {"c": 12345678901234567890}, "d": [1e400]}');

  expect(values).toEqual({ a: '12.50', 'b.c': '12345678901234567890', d: ['1e400'] });
});

it('reads formatted text of XFDF as plain text, unless there is one', () => {
  const rich = '<value-richtext><body><p>rich <b>one</b></p><p>two</p></body></value-richtext>';

  expect(xfdf(rich)).toEqual({ a: 'rich one\ntwo' });
  expect(xfdf(`${rich}<value>plain</value>`)).toEqual({ a: 'plain' });
});

it('reads values up to a number of characters', () => {
  const values = (count: number) => JSON.stringify({ a: 'a'.repeat(count), b: ['é'.repeat(49_999)] });

  expect(read(values(50_001))).toHaveProperty('b');
  expect(() => read(values(50_002))).toThrow('has values of more than 100000 characters');
  expect(() => xfdf(`<value>${'a'.repeat(100_001)}</value>`)).toThrow('more than 100000 characters');
});
