import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  choice,
  flag,
  integer,
  length,
  number,
  type Option,
  option,
  pageList,
  repeatable,
  sequence,
  size,
  text,
} from '../../../../functions/shared/options/option.ts';
import { quote } from '../../../../functions/shared/quote.ts';

const read = <Value>({ names, read }: Option<Value>, value: string, name = names[0]!) =>
  read([{ name, value }]);

describe('integer', () => {
  const firstPage = integer('-f', { min: 0, max: 100, description: 'first page' });

  it.each([
    ['0', 0],
    ['100', 100],
    ['+7', 7],
    ['007', 7],
  ])('reads %s', (value, expected) => {
    expect(read(firstPage, value)).toBe(expected);
  });

  it.each(['', ' 1', '1 ', '-1', '101', '1.0', '1e1', '0x1', 'one', 'NaN', 'Infinity', '٣', '1'.repeat(16)])(
    'rejects %j',
    (value) => {
      expect(() => read(firstPage, value)).toThrow(expect.objectContaining({ code: 'BAD_PARAMETER' }));
    },
  );

  it('names the parameter, the rule and the value', () => {
    expect(() => read(firstPage, 'x')).toThrow("Parameter '-f' must be an integer from 0 to 100, got 'x'.");
  });

  it('names the alias that was used', () => {
    const width = integer(['-width', '-scale-to-x'], { min: 1, max: 9, description: 'width' });

    expect(() => read(width, '0', '-scale-to-x')).toThrow(/^Parameter '-scale-to-x' must be/);
  });

  it('is undefined without a default, also in its type', () => {
    const resolution = integer('-r', { min: 10, max: 1200, default: 150, description: 'DPI' });

    expect(firstPage.default).toBeUndefined();
    expect(resolution.default).toBe(150);
    expectTypeOf(firstPage.default).toEqualTypeOf<number | undefined>();
    expectTypeOf(resolution.default).toEqualTypeOf<number>();
  });
});

describe('number', () => {
  const zoom = number('--zoom', { min: 0.1, max: 4, description: 'zoom' });

  it.each([
    ['1', 1],
    ['1.5', 1.5],
    ['.5', 0.5],
    ['2.', 2],
    ['+0.1', 0.1],
    ['4', 4],
  ])('reads %s', (value, expected) => {
    expect(read(zoom, value)).toBe(expected);
  });

  it.each(['', '.', '-1', '0.09', '4.01', '1,5', '1e0', 'NaN', 'Infinity'])('rejects %j', (value) => {
    expect(() => read(zoom, value)).toThrow(
      `Parameter '--zoom' must be a number from 0.1 to 4, got '${value}'.`,
    );
  });
});

describe('flag', () => {
  const background = flag('--background', {
    description: 'backgrounds',
    default: true,
    off: ['--no-background', '--disable-background'],
  });

  it.each(['', '1', 'true', 'yes', 'on', 'TRUE'])('is on for %j, and off under a negated name', (value) => {
    expect(read(background, value)).toBe(true);
    expect(read(background, value, '--no-background')).toBe(false);
    expect(read(background, value, '--disable-background')).toBe(false);
  });

  it.each(['0', 'false', 'no', 'off', 'No'])('is off for %j, and on under a negated name', (value) => {
    expect(read(background, value)).toBe(false);
    expect(read(background, value, '--no-background')).toBe(true);
  });

  it('rejects any other word', () => {
    expect(() => read(background, '2', '--no-background')).toThrow(
      "Parameter '--no-background' must be one of on, true, yes, 1, off, false, no, 0, got '2'.",
    );
  });

  it('accepts all its names and is off by default', () => {
    expect(background.names).toEqual(['--background', '--no-background', '--disable-background']);
    expect(background.default).toBe(true);
    expect(flag('-gray', { description: 'gray' }).default).toBe(false);
  });
});

describe('choice', () => {
  const pageSize = choice(['-s', '--page-size'], ['A4', 'Letter'], { description: 'paper', default: 'A4' });

  it('reads a word in any case and returns its usual spelling', () => {
    expect(read(pageSize, 'letter')).toBe('Letter');
    expectTypeOf(pageSize.default).toEqualTypeOf<'A4' | 'Letter'>();
  });

  it.each(['', 'A5', 'A4 ', '__proto__'])('rejects %j', (value) => {
    expect(() => read(pageSize, value)).toThrow(`Parameter '-s' must be one of A4, Letter, got '${value}'.`);
  });
});

describe('text', () => {
  it('accepts any letters up to its length', () => {
    const title = text('--title', { max: 5, description: 'title' });

    expect(read(title, 'Ünï図')).toBe('Ünï図');
    for (const value of ['', '123456', 'a\nb', 'a\0b', '\x7f']) {
      expect(() => read(title, value)).toThrow("Parameter '--title' must be text of 1 to 5 characters");
    }
  });

  it('enforces its pattern and describes it in the error', () => {
    const header = text('--cookie', { pattern: /^\w+:\w+$/, rule: 'name:value', description: 'cookie' });

    expect(read(header, 'a:b')).toBe('a:b');
    expect(() => read(header, 'a')).toThrow("Parameter '--cookie' must be name:value, got 'a'.");
  });
});

describe('length', () => {
  const margin = length('-T', { min: 0, max: 1000, description: 'margin' });

  it.each([
    ['10', 10],
    ['10mm', 10],
    ['1cm', 10],
    ['0.5m', 500],
    ['1in', 25.4],
    ['1 inch', 25.4],
    ['96px', 25.4],
    ['72pt', 25.4],
    ['6pc', 25.4],
    ['6PICA', 25.4],
    ['.5cm', 5],
    ['0', 0],
  ])('reads %s as millimeters', (value, expected) => {
    expect(read(margin, value)).toBeCloseTo(expected, 9);
  });

  it.each(['', 'mm', '-1', '1001', '2m', '1em', '1%', '1 2', '1,5cm', 'constructor', '1constructor'])(
    'rejects %j',
    (value) => {
      expect(() => read(margin, value)).toThrow(/^Parameter '-T' must be a length from 0mm to 1000mm/);
    },
  );
});

describe('size and pageList', () => {
  it('read width and height', () => {
    const viewport = size('--viewport-size', { min: 1, max: 2000, description: 'viewport' });

    expect(read(viewport, '1280x1024')).toEqual({ width: 1280, height: 1024 });
    for (const value of ['1280', '0x1', '1x2001', 'x', '1x', '1x2x3']) {
      expect(() => read(viewport, value)).toThrow("Parameter '--viewport-size' must be");
    }
  });

  const pages = pageList('-pages', { description: 'pages' });

  it('read lists of pages, counted from either end', () => {
    expect(read(pages, '1,3-5, 8-,!1,!3-!2,2-!1')).toEqual([
      { first: 1, last: 1 },
      { first: 3, last: 5 },
      { first: 8, last: -1 },
      { first: -1, last: -1 },
      { first: -3, last: -2 },
      { first: 2, last: -1 },
    ]);
  });

  it.each([
    '',
    '0',
    '1,',
    ',1',
    '5-3',
    '1--2',
    '-3',
    'a',
    '1-b',
    '!0',
    '!',
    '1;2',
    '1234567',
    `${'1,'.repeat(500)}1`,
  ])('reject %j as a list of pages', (value) => {
    expect(() => read(pages, value)).toThrow("Parameter '-pages' must be a list of pages such as");
  });
});

describe('list', () => {
  const headers = repeatable(text('--custom-header', { description: 'header' }));

  it('returns all values in the order of the query, and none by default', () => {
    const given = ['b', 'a', 'b'].map((value) => ({ name: '--custom-header', value }));

    expect(headers.read(given)).toEqual(['b', 'a', 'b']);
    expect(headers.default).toEqual([]);
    expect(headers.repeatable).toBe(true);
  });

  it('rejects one invalid value among valid ones', () => {
    const given = ['b', ''].map((value) => ({ name: '--custom-header', value }));

    expect(() => headers.read(given)).toThrow("got ''.");
  });
});

describe('sequence', () => {
  const operators = sequence(
    {
      resize: text(['-resize', '-geometry'], { description: 'size' }),
      flip: flag('-flip', { description: 'upside down' }),
      rotate: number('-rotate', { min: -360, max: 360, description: 'degrees' }),
    },
    { description: 'operators' },
  );

  it('returns the steps in the order of the query', () => {
    const steps = operators.read([
      { name: '-rotate', value: '90' },
      { name: '-geometry', value: '50%' },
      { name: '-flip', value: '' },
    ]);

    expect(steps.map(({ operator }) => operator)).toEqual(['rotate', 'resize', 'flip']);
    expect(steps[0]).toEqual({ operator: 'rotate', value: 90 });
    expect(operators.names).toEqual(['-resize', '-geometry', '-flip', '-rotate']);
  });

  it('reads an operator twice, under either of its names', () => {
    const twice = [
      { name: '-resize', value: '1' },
      { name: '-geometry', value: '2' },
    ];

    expect(operators.read(twice).map(({ operator }) => operator)).toEqual(['resize', 'resize']);
  });
});

describe('parameter', () => {
  it('is made from a rule and a parser', () => {
    const even = option('-n', 'an even number', (value) => (Number(value) % 2 === 0 ? value : undefined), {
      description: 'n',
    });

    expect(read(even, '2')).toBe('2');
    expect(() => read(even, '3')).toThrow("Parameter '-n' must be an even number, got '3'.");
  });
});

describe('quoting the text of a caller', () => {
  it.each([
    ['plain', "'plain'"],
    ['a\r\nb\0c\x1b[31m', "'a\ufffd\ufffdb\ufffdc\ufffd[31m'"],
    ['x'.repeat(61), `'${'x'.repeat(57)}...'`],
    ['Übersicht 図', "'Übersicht 図'"],
  ])('shows one short line of it', (value, expected) => {
    expect(quote(value)).toBe(expected);
  });

  it('removes markers that a client could mistake for a result', () => {
    const shown = quote('[Output] http://x.example/<br>');

    expect(shown).not.toMatch(/\[output\]|<br>/i);
  });

  it('removes characters that change the direction of text', () => {
    expect(quote('a\u202eb\u2066c\u200fd\u2028e')).toBe("'a\ufffdb\ufffdc\ufffdd\ufffde'");
  });
});
