import { describe, expect, it } from 'vitest';
import type { Html2pdfOptions } from '../../../functions/html2pdf/options.ts';
import {
  hasSections,
  heightOf,
  runningTextOn,
  runningTextsOf,
  template,
  withDefaultHeader,
} from '../../../functions/html2pdf/running-text.ts';
import { html2pdf } from '../../../functions/html2pdf/tool.ts';
import { readOptions } from '../../../functions/shared/options/read-options.ts';

const running = {
  values: {
    url: 'http://x.example/?a=<b>&c',
    now: new Date('2026-03-04T05:06:07Z'),
    locale: 'de-DE',
    timezone: 'Europe/Berlin',
    replacements: [{ name: 'name', value: '<value' }],
  },
  place: { height: 297, top: 20, bottom: 15, left: 10, right: 10 },
};

function options(query: Record<string, string>): Html2pdfOptions {
  const given = Object.entries(query).map(([name, value]) => ({ name, value }));
  return readOptions(html2pdf, given).options as Html2pdfOptions;
}

const runningTextOf = (...args: Parameters<typeof runningTextsOf>) => runningTextsOf(...args).usual;

describe('headers and footers', () => {
  it('are empty if no option asks for them', () => {
    expect(runningTextOf('header', options({}), {})).toBeUndefined();
    expect(runningTextOf('footer', options({}), {})).toBeUndefined();
    expect(template(undefined, 'header', running)).toBe('<span></span>');
  });

  it.each([
    ['--header-line', true],
    ['--no-header-line', false],
    ['--default-header', true],
    ['--default-header --no-header-line', false],
  ])('have a line if it is asked for: %s', (names, line) => {
    const given = options(Object.fromEntries(names.split(' ').map((name) => [name, ''])));

    expect(runningTextOf('header', withDefaultHeader(given), {})?.line ?? false).toBe(line);
  });

  it('fill in known values and leave page numbers to the browser', () => {
    const header = runningTextOf(
      'header',
      options({ '--header-left': '[page] of [topage], [isodate] [time] [date] [name] [nothing]' }),
      {},
    );

    const text = template(header, 'header', running);

    expect(text).toContain(
      '<span class="pageNumber"></span> of <span class="totalPages"></span>, 2026-03-04 06:06:07 4.3.2026 &#60;value [nothing]',
    );
  });

  it('fill in names in any case', () => {
    const footer = runningTextOf('footer', options({ '--footer-center': '[Page]/[toPage] [NAME]' }), {});

    expect(template(footer, 'footer', running)).toContain(
      '<span class="pageNumber"></span>/<span class="totalPages"></span> &#60;value',
    );
  });

  it('are those of wkhtmltopdf if the default header is asked for', () => {
    const usual = withDefaultHeader(options({ '--default-header': '' }));
    const own = withDefaultHeader(options({ '--default-header': '', '--header-left': 'x', '-T': '30' }));

    expect(usual).toMatchObject({ headerLeft: '[webpage]', headerLine: true, marginTop: 20 });
    expect(usual.headerRight).toBe('[page]/[topage]');
    expect(own).toMatchObject({ headerLeft: 'x', headerLine: true, marginTop: 30 });
  });

  it('are text, never markup', () => {
    const query = {
      '--footer-right': '<img src=x onerror=alert(1)> [webpage] &amp; "\'',
      '--footer-font-name': '"><script>',
    };

    const text = template(runningTextOf('footer', options(query), {}), 'footer', running);

    expect(text).not.toMatch(/<(img|script|b)/);
    expect(text).toContain('&#60;img src=x onerror=alert(1)&#62; http://x.example/?a=&#60;b&#62;&#38;c');
    // All elements are those of the template.
    expect(new Set(text.match(/<\/?\w+/g))).toEqual(new Set(['<div', '</div']));
  });

  it('are next to the content, with a line between them on request', () => {
    const header = runningTextOf('header', options({ '--header-line': '', '--header-spacing': '2' }), {});
    const footer = runningTextOf(
      'footer',
      options({ '--footer-center': 'x', '--footer-font-size': '8' }),
      {},
    );

    expect(template(header, 'header', running)).toContain('bottom:279mm;left:10mm;right:10mm');
    expect(template(header, 'header', running)).toContain('border-bottom:0.3mm');
    expect(template(footer, 'footer', running)).toContain('top:282mm');
    expect(template(footer, 'footer', running)).toContain('font-size:8pt');
    expect(template(footer, 'footer', running)).not.toContain('border');
  });

  it('map the classes of wkhtmltopdf in HTML to those of Chromium', () => {
    const header = runningTextOf('header', options({}), {
      headerHtml: '<p class="big page">1</p><i class="x">[page]</i>',
    });

    const text = template(header, 'header', running);

    expect(text).toContain('<p class="big page pageNumber">1</p><i class="x">[page]</i>');
    expect(text).toContain('top:0;left:10mm;right:10mm;height:20mm');
  });

  describe('on pages of their own', () => {
    const textsOn = (query: Record<string, string>) => {
      const texts = runningTextsOf('header', options(query), {});
      return [1, 2, 3].map(
        (number) => runningTextOn(texts, { isFirst: number === 1, number })?.texts.join('') ?? 'none',
      );
    };

    it.each([
      [{ '--header-left': 'x' }, ['x', 'x', 'x']],
      [{ '--header-left': 'x', '--no-header-first': '' }, ['none', 'x', 'x']],
      [{ '--header-left': 'x', '--header-even-right': 'y' }, ['x', 'y', 'x']],
      [{ '--header-left': 'x', '--header-first-center': 'z' }, ['z', 'x', 'x']],
      [{ '--header-even-left': 'y' }, ['none', 'y', 'none']],
      [{ '--header-first-left': 'z', '--no-header-first': '' }, ['z', 'none', 'none']],
    ])('differ as the options say: %j', (query, expected) => {
      expect(textsOn(query)).toEqual(expected);
    });

    it('need a margin for the highest of them', () => {
      const texts = runningTextsOf('header', options({ '--header-left': 'x', '--header-font-size': '72' }), {
        headerEvenHtml: '<p>y',
      });

      expect(heightOf(texts)).toBeCloseTo(1.2 * 25.4);
      expect(heightOf(runningTextsOf('footer', options({}), {}))).toBe(0);
    });

    it.each([
      ['<i class="title section">', true],
      ["<i class='subsection'>", true],
      ['<i class=a>section', false],
      ['class='.repeat(150_000), false],
    ])('may have sections, which are looked for in each class once', (html, expected) => {
      expect(hasSections(runningTextsOf('header', options({}), { headerHtml: html }))).toBe(expected);
    });
  });
});
