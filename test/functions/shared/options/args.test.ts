import { describe, expect, it } from 'vitest';
import { readArgs, splitWords } from '../../../../functions/shared/options/args.ts';
import { readOptions } from '../../../../functions/shared/options/read-options.ts';
import * as tools from '../../../../functions/tools.ts';

const pairs = (text: string, tool: Parameters<typeof readArgs>[1] = tools.imageproc) =>
  readArgs(splitWords(text), tool).map(({ name, value }) => `${name}=${value}`);

describe('a command line', () => {
  it.each([
    ['-crop 50x50+0+0 -resize 200x', ['-crop=50x50+0+0', '-resize=200x']],
    ['  -resize   200x200>  -rotate -90 ', ['-resize=200x200>', '-rotate=-90']],
    ["-annotate 'two words' -fill red", ['-annotate=two words', '-fill=red']],
    ['-annotate "a \\"b\\" $c" -fill \'rgb(1, 2, 3)\'', ['-annotate=a "b" $c', '-fill=rgb(1, 2, 3)']],
    ['-resize 100x100\\! -annotate a\\ b', ['-resize=100x100!', '-annotate=a b']],
    ["-annotate ''", ['-annotate=']],
    ['-annotate', ['-annotate=']],
    ['-flip -resize=50% -flop', ['-flip=', '-resize=50%', '-flop=']],
    ['-append -resize 50% +append -quality 80', ['-append=', '-resize=50%', '+append=', '-quality=80']],
    ['-dither None -dither -colors 8 +dither', ['-dither=None', '-dither=', '-colors=8', '+dither=']],
    ['-distort SRT -30 -distort "SRT 5" -flip', ['-distort=SRT -30', '-distort=SRT 5', '-flip=']],
    [
      '-limit memory 256MB -set colorspace Gray -flip',
      ['-limit=memory 256MB', '-set=colorspace Gray', '-flip='],
    ],
    ['', []],
  ])('of ImageMagick is read in its order: %s', (text, expected) => {
    expect(pairs(text)).toEqual(expected);
  });

  it('of wkhtmltopdf may have options without a value, and with two', () => {
    const text =
      '-g --no-background -T 20mm --custom-header X-Own "my value" --cookie a b --replace name value --title x';

    const given = readArgs(splitWords(text), tools.html2pdf);

    const { options, issues } = readOptions(tools.html2pdf, given, 'pdf');
    expect(issues).toEqual([]);
    expect(options).toMatchObject({
      grayscale: true,
      background: false,
      marginTop: 20,
      headers: [{ name: 'X-Own', value: 'my value' }],
      cookies: [{ name: 'a', value: 'b' }],
      title: 'x',
    });
  });

  it('may join the two words of an option', () => {
    const given = pairs('--cookie a:b toc --replace c,d --cover https://example.org/', tools.html2pdf);

    expect(given).toEqual(['--cookie=a:b', 'toc=', '--replace=c,d', '--cover=https://example.org/']);
  });

  it('of pdftoppm is read like its options in a query', () => {
    expect(pairs('-f 2 -l 3 -r 72 -gray -cropbox', tools.pdftools)).toEqual([
      '-f=2',
      '-l=3',
      '-r=72',
      '-gray=',
      '-cropbox=',
    ]);
  });

  it('keeps an unknown option, which is reported like any other', () => {
    expect(pairs('-resiz 5x5 -flip')).toEqual(['-resiz=5x5', '-flip=']);
  });

  it.each([
    ["-annotate 'open", "contains ' that is not closed"],
    ['-annotate "open', 'contains " that is not closed'],
    ['-flip 5x5', "the value '5x5' without an option before it"],
    ['in.png -flip', "the value 'in.png' without an option before it"],
    [`-annotate ${'x'.repeat(9000)}`, 'at most 8000 characters'],
  ])('is rejected: %s', (text, message) => {
    expect(() => pairs(text)).toThrow(message);
  });
});
