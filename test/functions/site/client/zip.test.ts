import { expect, it } from 'vitest';
import { zipOf } from '../../../../functions/site/client/zip.ts';
import { unzip } from '../../../helpers/zip.ts';

it('makes an archive of files whose names differ, with their content', async () => {
  const blob = (text: string) => new Blob([text]);
  const archive = await zipOf([
    { name: 'Brief für Zoë.pdf', content: blob('one') },
    { name: 'a.png', content: blob('two') },
    { name: 'A.png', content: blob('') },
    { name: '../../b', content: blob('four') },
  ]);

  const found = await unzip(Buffer.from(await archive.arrayBuffer()));

  expect(found.map(({ name, content }) => [name, content.toString()])).toEqual([
    ['Brief für Zoë.pdf', 'one'],
    ['a.png', 'two'],
    ['A-2.png', ''],
    ['.._.._b', 'four'],
  ]);
});
