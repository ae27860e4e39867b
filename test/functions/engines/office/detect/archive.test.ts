import { expect, it } from 'vitest';
import { scanArchive, withoutDuplicates } from '../../../../../functions/engines/office/detect/archive.ts';
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
