import { expect, it } from 'vitest';
import { html2pdf } from '../../../functions/html2pdf/tool.ts';

const { cover, footerHtml, headerHtml, pageHeight, styleSheet } = html2pdf.options;

it('names all values of `--page-height` in its error', () => {
  expect(() => pageHeight.read([{ name: '--page-height', value: 'tall' }])).toThrow(
    "Parameter '--page-height' must be auto, or a length from 10mm to 5080mm (mm, cm, m, in, px, pt or pc), got 'tall'.",
  );
});

it.each([cover, styleSheet, headerHtml, footerHtml].map((option) => [option.names[0]!, option] as const))(
  'rejects a URL that cannot be requested: %s',
  (name, option) => {
    for (const value of ['http://', 'https://exa mple/', 'https://a:b:c/', `https://a/${'b'.repeat(8000)}`])
      expect(() => option.read([{ name, value }]), value).toThrow('http or https URL');
  },
);
