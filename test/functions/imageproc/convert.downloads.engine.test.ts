import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createEngine } from '../../../functions/imageproc/convert.ts';
import { imageproc } from '../../../functions/imageproc/tool.ts';
import { ConversionError } from '../../../functions/shared/errors.ts';
import { useOwnEngine } from '../conversion.ts';
import { PICTURE } from './picture.ts';

const asked: string[] = [];
let open = 0;
let most = 0;

/** Fails, as the deployment's own download would, for the fourth image. */
async function download(url: string) {
  asked.push(url);
  open += 1;
  most = Math.max(most, open);
  await setTimeout(20);
  open -= 1;
  if (url.endsWith('/4')) throw new ConversionError('SOURCE_STATUS', 'The server returned status 404.');
  return { path: '/nowhere', name: '', contentType: '', bytes: 0 };
}

const { refusal } = useOwnEngine(imageproc, (dependencies) => createEngine({ ...dependencies, download }));

it('images of operators are downloaded one at a time, by the download of the deployment', async () => {
  const images = Array.from({ length: 9 }, (_, index) => `-composite=http://images.example/${index + 1}`);

  const refused = await refusal(PICTURE, { format: 'png', options: images.join(' ') });

  expect(refused).toMatchObject({ code: 'SOURCE_STATUS' });
  expect(asked.map((url) => url.at(-1))).toEqual(['1', '2', '3', '4']);
  expect(most).toBe(1);
  expect(open).toBe(0);
});
