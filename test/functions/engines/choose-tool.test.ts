import { expect, it } from 'vitest';
import { chooseTool } from '../../../functions/engines/choose-tool.ts';
import { READERS } from '../../../functions/shared/source/file-kind.ts';
import * as tools from '../../../functions/tools.ts';

const ZIP = `PK\x03\x04${' '.repeat(26)}`;
const chosen = (head: string, format: string, { name = '', contentType = '', isPaged = false } = {}) =>
  chooseTool({ head, name, contentType }, { format, isPaged }, Object.values(tools))?.name;

it.each([
  ['%PDF-1.7', 'png', 'pdftools'],
  ['%PDF-1.7', 'docx', 'pdftools'],
  ['<!DOCTYPE html><p>About %PDF-1.7', 'pdf', 'html2pdf'],
  ['\n<!-- saved --><html>', 'png', 'html2image'],
  ['<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">', 'pdf', 'html2pdf'],
  ['<p>Hello', 'docx', 'doc2any'],
  ['<?xml version="1.0"?><!-- a --><svg xmlns="http://www.w3.org/2000/svg">', 'png', 'imageproc'],
  ['<svg viewBox="0 0 1 1">', 'pdf', 'html2pdf'],
  [`${ZIP}word/document.xml`, 'png', 'doc2any'],
  ['\xff\xd8\xff\xe0', 'webp', 'imageproc'],
  ['a,b\n1,2\n', 'pdf', 'doc2any'],
  ['\x00\x01\x02\x03', 'pdf', undefined],
])('chooses for %j to %s: %s', (head, format, tool) => {
  expect(chosen(head, format)).toBe(tool);
});

it('believes the bytes before the name and the media type', () => {
  const disguised = { name: 'a.docx', contentType: 'text/html' };

  expect(chosen('%PDF-1.7', 'png', disguised)).toBe('pdftools');
  expect(chosen(`${ZIP}a.bin`, 'pdf', { name: 'a.docx' })).toBe('doc2any');
  expect(chosen(`${ZIP}index.html`, 'pdf', { name: 'page.zip' })).toBe('html2pdf');
  expect(chosen('', 'png', { contentType: 'text/html' })).toBe('html2image');
  expect(chosen('BM', 'png', { name: 'a.BMP' })).toBe('imageproc');
});

it('chooses the tool that writes one file per page', () => {
  expect(chosen('%PDF-1.7', 'txt', { isPaged: true })).toBe('pdftools');
  expect(chosen('<html>', 'png', { isPaged: true })).toBe('doc2any');
});

it('knows only names of tools, and a tool that writes a PDF for each kind of file', () => {
  const names = Object.values(READERS).flat();
  const first = Object.values(READERS).flatMap((readers) => readers.slice(0, 1));

  expect(names.filter((name) => !Object.hasOwn(tools, name))).toEqual([]);
  expect(first.every((name) => tools[name].formats.some((format) => format === 'pdf'))).toBe(true);
});
