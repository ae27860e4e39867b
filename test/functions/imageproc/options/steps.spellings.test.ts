import { describe, expect, it } from 'vitest';
import { settingsAt } from '../../../../functions/imageproc/options/steps.ts';
import { parseColor } from '../../../../functions/imageproc/options/values.ts';
import type { ImageprocOptions } from '../../../../functions/imageproc/request.ts';
import { imageproc } from '../../../../functions/imageproc/tool.ts';
import type { Format } from '../../../../functions/shared/formats.ts';
import { readArgs, splitWords } from '../../../../functions/shared/options/args.ts';
import { readOptions } from '../../../../functions/shared/options/read-options.ts';

function read(...pairs: readonly (readonly [name: string, value: string])[]) {
  const given = pairs.map(([name, value]) => ({ name, value }));
  const { options, issues } = readOptions(imageproc, given, 'jpg');
  return { options: options as ImageprocOptions, messages: issues.map(({ message }) => message) };
}

describe("ImageMagick's spellings", () => {
  it.each([
    ['-resize', '33.33333%'],
    ['-resize', 'x50%'],
    ['-resize', '50%x'],
    ['-crop', '16:9'],
    ['-crop', '100x50+10+20!'],
    ['-crop', '100x50!+10+20'],
    ['-crop', '100x50^+10+20'],
    ['-crop', '100x50+-10+-20'],
    ['-crop', '100x50 -10--20'],
    ['-extent', '100x50!+-10+20'],
    ['-crop', '100x50 10 20'],
    ['-density', '150x150'],
    ['-density', '72.5'],
    ['-gamma', '1.2,1,.8'],
    ['-quality', '0'],
    ['-background', 'grey50'],
    ['-fill', 'gray0'],
    ['-bordercolor', 'srgb(10,20,30)'],
    ['-level', '10%,90%'],
    ['-level', '10,90%,1.5'],
    ['-level', '1000,60000'],
    ['-contrast-stretch', '2%x1%'],
    ['-annotate', '+10+20 Hello'],
    ['-annotate', ' 10 20 Hello'],
    ['-annotate', '0 Hello'],
    ['-annotate', '45x45+0+0 Hello'],
    ['+append', ''],
    ['+dither', ''],
    ['-dither', 'riemersma'],
    ['-dither', 'no'],
    ['-font', 'DejaVu-Sans-Bold'],
    ['-font', 'Times New Roman'],
    ['-geometry', '+10+20'],
    ['-geometry', '50%'],
    ['-define', 'jpeg:extent=100KB'],
    ['-define', 'webp:lossless=true'],
    ['-sampling-factor', '2x2,1x1,1x1'],
  ])('%s=%s are accepted', (name, value) => {
    expect(read([name, value]).messages).toEqual([]);
  });

  it.each([
    ['-background', 'url:x'],
    ['-background', 'constructor'],
    ['-crop', '0:9'],
    ['-level', '90%,10%,0'],
    ['-composite', 'file:///etc/passwd'],
    ['-composite', 'msl:x'],
    ['-annotate', '@/etc/passwd\u0000'],
    ['-font', '/etc/passwd'],
    ['-font', '@fonts.ttf'],
    ['-define', 'jpeg'],
    ['-define', 'jpeg:extent=-1'],
    ['-contrast-stretch', '60%x60%'],
    ['-contrast-stretch', '50%x50%'],
    ['-gamma', '0'],
    ['-dither', 'Hilbert'],
    ['+dither', 'Riemersma'],
  ])('%s=%s are rejected', (name, value) => {
    expect(read([name, value]).messages).toHaveLength(1);
  });

  it.each(['registry:temporary-path=/tmp', 'png:preserve-colormap=true', 'icon:auto-resize=16,32'])(
    '-define=%s is ignored, and ImageMagick never gets it',
    (value) => {
      const { options, ignored, issues } = readOptions(imageproc, [{ name: '-define', value }], 'png');

      expect(issues).toEqual([]);
      expect(ignored).toEqual(['-define']);
      expect(options).toMatchObject({ define: [] });
    },
  );

  it('may repeat an operator', () => {
    const { options, messages } = read(['-flip', ''], ['-flip', ''], ['-resize', '50%'], ['-resize', '50%']);

    expect(messages).toEqual([]);
    expect(options.steps.map(({ operator }) => operator)).toEqual(['-flip', '-flip', '-resize', '-resize']);
  });
});

describe('a command line', () => {
  it('has operators of two words', () => {
    const given = readArgs(
      splitWords("-distort SRT 45 -annotate +5+5 'Hello there' -flip -evaluate Multiply 0.5"),
      imageproc,
    );

    expect(given).toEqual([
      { name: '-distort', value: 'SRT 45' },
      { name: '-annotate', value: '+5+5 Hello there' },
      { name: '-flip', value: '' },
      { name: '-evaluate', value: 'Multiply 0.5' },
    ]);
  });
});

describe('a setting', () => {
  it('that is given once applies to all operators', () => {
    const { options } = read(['-trim', ''], ['-fuzz', '5%']);

    expect(settingsAt(options.steps, options.steps[0])['-fuzz']).toBe('5%');
  });

  it('applies from its position to the next one', () => {
    const { options } = read(
      ['-gravity', 'North'],
      ['-annotate', 'One'],
      ['-gravity', 'South'],
      ['-annotate', 'Two'],
    );

    const [one, two] = options.steps.filter(({ operator }) => operator === '-annotate');
    expect([settingsAt(options.steps, one)['-gravity'], settingsAt(options.steps, two)['-gravity']]).toEqual([
      'North',
      'South',
    ]);
  });
});

describe('a color', () => {
  it.each([
    ['gray50', 127],
    ['grey10', 26],
    ['gray70', 179],
    ['gray100', 255],
  ])('%s is the shade of ImageMagick: %i', (name, shade) => {
    expect(parseColor(name)?.map((channel) => Math.round(channel * 255))).toEqual([shade, shade, shade, 255]);
  });
});

describe('the settings of animations', () => {
  const ignoredFor = (format: Format, name: string, value: string) => {
    const { ignored, issues } = readOptions(imageproc, [{ name, value }], format);
    return issues.length > 0 ? 'error' : ignored.length > 0;
  };

  it.each([
    ['-delay', '20'],
    ['-loop', '3'],
    ['-dispose', 'None'],
  ])('have an effect on gif and webp only: %s', (name, value) => {
    const formats: readonly Format[] = ['gif', 'webp', 'jpg', 'png', 'avif', 'tiff'];

    const ignored = formats.map((format) => ignoredFor(format, name, value));

    expect(ignored).toEqual([false, false, true, true, true, true]);
    expect(ignoredFor('jpg', name, 'wrong!')).toBe('error');
  });
});
