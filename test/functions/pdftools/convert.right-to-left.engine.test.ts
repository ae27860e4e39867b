import { expect, it } from 'vitest';
import { createEngine } from '../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../functions/pdftools/tool.ts';
import { useEngine } from '../conversion.ts';
import { usePages } from '../engines/chromium/use-pages.ts';

const { convertOne } = useEngine(pdftools, createEngine);

const LINES = [
  'הספרייה פתוחה מ-09:00 עד 17:30',
  'חדר Reading Room 3 בקומה 2',
  'המחיר (כולל מע"מ) הוא 1,250.50 ש"ח',
  'הנחה של 15% לחברים בלבד, $45',
  'ראה https://example.com/a?b=1 לפרטים',
  'סיום (Final Report) של הדוח',
  '[1] הערה ראשונה: מה השעה?',
  'لا إله في القائمة سوى 12 كتابا',
  'في ١٢ مايو ٢٠٢٣ بدأ العمل',
];
const LATIN = 'The word שלום means peace';

const { pdf } = await usePages({
  '/': `<!doctype html><meta charset=utf-8><body dir=rtl>${LINES.map((line) => `<p>${line}`).join('')}<p dir=ltr>${LATIN}`,
  '/twice':
    '<!doctype html><p>first <span style="display:inline-block;mask-image:linear-gradient(#000,#000)">masked</span> last',
});

const linesOf = (text: Buffer) =>
  text
    .toString()
    .normalize('NFKC')
    .replace(/[\ufeff\u200e\u200f\f]/g, '')
    .split('\n')
    .map((line) => line.trim().replace(/ +/g, ' '))
    .filter((line) => line !== '');

it('writes lines that are read from right to left in logical order', async () => {
  const { bytes } = await pdf('/');

  expect(linesOf(await convertOne(bytes, { format: 'txt' }))).toEqual([...LINES, LATIN]);
});

it('writes text once that is drawn twice in one place', async () => {
  const { bytes } = await pdf('/twice');

  expect(linesOf(await convertOne(bytes, { format: 'txt' })).join(' ')).toBe('first masked last');
});
