import { describe, expect, it } from 'vitest';
import { footerOf, headerOf, template } from '../../../functions/html2pdf/running-text.ts';
import { type Html2pdfOptions, html2pdf } from '../../../functions/html2pdf/tool.ts';
import { readOptions } from '../../../functions/shared/options/read-options.ts';

const running = {
  facts: { url: 'http://x.example/?a=<b>&c', now: new Date('2026-03-04T05:06:07Z') },
  place: { height: 297, top: 20, bottom: 15, left: 10, right: 10 },
};

function options(query: Record<string, string>): Html2pdfOptions {
  const given = Object.entries(query).map(([name, value]) => ({ name, value }));
  return readOptions(html2pdf, given).options as Html2pdfOptions;
}

describe('headers and footers', () => {
  it('are none where nothing was said', () => {
    expect(headerOf(options({}))).toBeUndefined();
    expect(footerOf(options({}))).toBeUndefined();
    expect(template(undefined, 'header', running)).toBe('<span></span>');
  });

  it('fill in what is known, and leave pages to the browser', () => {
    const header = headerOf(
      options({ '--header-left': '[page] of [topage], [isodate] [time] [date] [nothing]' }),
    );

    const text = template(header, 'header', running);

    expect(text).toContain(
      '<span class="pageNumber"></span> of <span class="totalPages"></span>, 2026-03-04 05:06:07 04/03/2026 [nothing]',
    );
  });

  it('are text, never markup', () => {
    const query = {
      '--footer-right': '<img src=x onerror=alert(1)> [webpage] &amp; "\'',
      '--footer-font-name': '"><script>',
    };

    const text = template(footerOf(options(query)), 'footer', running);

    expect(text).not.toMatch(/<(img|script|b)/);
    expect(text).toContain('&#60;img src=x onerror=alert(1)&#62; http://x.example/?a=&#60;b&#62;&#38;c');
    // The only elements are ours.
    expect(new Set(text.match(/<\/?\w+/g))).toEqual(new Set(['<div', '</div']));
  });

  it('stand next to the content, a line between where one is wanted', () => {
    const header = headerOf(options({ '--header-line': '', '--header-spacing': '2' }));
    const footer = footerOf(options({ '--footer-center': 'x', '--footer-font-size': '8' }));

    expect(template(header, 'header', running)).toContain('bottom:279mm;left:10mm;right:10mm');
    expect(template(header, 'header', running)).toContain('border-bottom:0.3mm');
    expect(template(footer, 'footer', running)).toContain('top:282mm');
    expect(template(footer, 'footer', running)).toContain('font-size:8pt');
    expect(template(footer, 'footer', running)).not.toContain('border');
  });
});
