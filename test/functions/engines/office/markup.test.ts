import { expect, it } from 'vitest';
import {
  applyEdits,
  emptyElement,
  isOn,
  readMarkup,
  readNumber,
  type Tag,
} from '../../../../functions/engines/office/markup.ts';

function tagsOf(xml: string): Tag[] {
  const tags: Tag[] = [];
  readMarkup(xml, { open: (tag) => tags.push(tag) });
  return tags;
}

it.each([
  ['line breaks of Windows', '<a>\r\n\r\n<b c="1&#10;2"/>\r\n</a>'],
  ['characters beyond the first plane', '<a>😀𠮷<b c="😀"/></a>'],
  ['a byte order mark', '\ufeff<a><b/></a>'],
  ['comments, CDATA and references', '<a><!-- <x> --><![CDATA[<y>]]>&amp;&#x41;<b/></a>'],
  ['an attribute with ">"', '<a d=">"><b c=">"/></a>'],
])('finds tags after %s', (_, xml) => {
  const [outer, inner] = tagsOf(xml);

  expect(xml.slice(outer!.start, outer!.end)).toMatch(/^<a[^<]*>$/);
  expect(xml.slice(inner!.start, inner!.end)).toMatch(/^<b[^<]*\/>$/);
  expect([outer!.isEmpty, inner!.isEmpty]).toEqual([false, true]);
});

it('tells what is around tags and text', () => {
  const places: string[] = [];

  readMarkup('<a><b>one</b><c/></a>', {
    open: ({ name }, path) => places.push(`${path.join('/')}<${name}`),
    text: (text, path) => places.push(`${path.join('/')}=${text}`),
    close: (name, path) => places.push(`${path.join('/')}>${name}`),
  });

  expect(places).toEqual(['<a', 'a<b', 'a/b=one', 'a>b', 'a<c', 'a>c', '>a']);
});

it.each(['<a>', '<a></b>', '<a b=1/>', 'text', '<a>'.repeat(2000)])('rejects %s', (xml) => {
  expect(() => tagsOf(xml)).toThrow();
});

it('applies edits in any order', () => {
  const edits = [
    { start: 5, end: 5, text: '!' },
    { start: 0, end: 1, text: 'J' },
  ];

  expect(applyEdits('hello world', edits)).toBe('Jello! world');
});

it('escapes attributes', () => {
  expect(emptyElement('a', { b: '<"&' })).toBe('<a b="&lt;&quot;&amp;"/>');
});

it.each([
  ['12', 12],
  ['-0.5', -0.5],
  ['', undefined],
  ['x', undefined],
  [undefined, undefined],
])('reads the number %j as %j', (value, number) => {
  expect(readNumber(value)).toBe(number);
});

it.each([
  [undefined, true],
  ['1', true],
  ['on', true],
  ['0', false],
  ['false', false],
  ['off', false],
])('reads the switch %j as %j', (value, isSet) => {
  expect(isOn(value)).toBe(isSet);
});
