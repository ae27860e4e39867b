import { expect, it } from 'vitest';
import { usePages } from '../engines/chromium/use-pages.ts';

const WORDS = [
  ['en', 'rep-re-sen-tation'],
  ['en-GB', 'rep-re-sen-ta-tion'],
  ['de', 'Ge-schwin-dig-keit'],
  ['fr', 'dé-ve-lop-pe-ment'],
  ['uk', 'від-по-ві-да-льність'],
] as const;

const { pdf } = await usePages({
  '/': `<!doctype html><meta charset=utf-8><style>p { width: 1px; hyphens: auto }</style>${WORDS.map(
    ([language, word]) => `<p lang=${language}>${word.replaceAll('-', '')}</p>`,
  ).join('')}`,
});

it('divides words by the rules of their language', async () => {
  const { text } = await pdf('/');

  // Chromium writes U+2010 for the hyphens that it adds.
  expect(
    text
      .normalize('NFC')
      .replace(/\u2010\s*/g, '-')
      .split(/\s+/),
  ).toEqual(WORDS.map(([, word]) => word));
});
