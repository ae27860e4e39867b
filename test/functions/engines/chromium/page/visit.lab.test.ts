import { expect, it } from 'vitest';
import { usePages } from '../use-pages.ts';

const { pdf } = await usePages({
  '/': '<!doctype html><p>Hello</p>',
  '/crash': '<p>x</p><script>const all = []; for (;;) all.push(new Array(1e6).fill(Math.random()))</script>',
});

it('recovers after a page exhausts its memory', async () => {
  await expect(pdf('/crash')).rejects.toMatchObject({
    code: expect.stringMatching(/^(CONVERSION_FAILED|SOURCE_TIMEOUT|TIMED_OUT)$/),
  });

  expect((await pdf('/')).text).toBe('Hello');
});
