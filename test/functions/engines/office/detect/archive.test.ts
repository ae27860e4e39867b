import { expect, it } from 'vitest';
import {
  scanArchive,
  withoutDuplicates,
  withoutFloatingTables,
} from '../../../../../functions/engines/office/detect/archive.ts';
import { makeArchive } from './archives.ts';

it('keeps the last of the parts that have the same name', async () => {
  const bytes = makeArchive([
    { name: 'a', content: 'old' },
    { name: 'b', content: 'other' },
    { name: 'a', content: 'new' },
  ]);

  const unique = await withoutDuplicates(bytes);

  const parts: string[] = [];
  await scanArchive(unique!, (name, piece) => parts.push(`${name}=${piece}`));
  expect(parts).toEqual(['a=new', 'b=other']);
  expect(await withoutDuplicates(unique!)).toBeUndefined();
});

it('makes the floating tables of all parts of a Word document inline', async () => {
  const table = '<w:tblPr><w:tblpPr w:tblpY="1"/><w:tblOverlap w:val="never"/><w:tblW w:w="9"/></w:tblPr>';
  const bytes = makeArchive([
    { name: 'word/document.xml', content: 'no table' },
    { name: 'word/footer2.xml', content: table },
  ]);

  const inline = await withoutFloatingTables(bytes);

  const parts: string[] = [];
  await scanArchive(inline!, (name, piece) => parts.push(`${name}=${piece}`));
  expect(parts).toEqual([
    'word/document.xml=no table',
    'word/footer2.xml=<w:tblPr><w:tblW w:w="9"/></w:tblPr>',
  ]);
  expect(await withoutFloatingTables(inline!)).toBeUndefined();
});
