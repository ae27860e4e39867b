import { crc32 } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../../functions/imageproc/convert.ts';
import { imageproc } from '../../../../functions/imageproc/tool.ts';
import { pixel } from '../../../helpers/pixels.ts';
import { useEngine } from '../../conversion.ts';

const { convert } = useEngine(imageproc, createEngine);

const svg = (content: string, attributes = 'width="100" height="100"') =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${content}</svg>`,
  );
const GREEN = '<rect width="100" height="100" fill="#0a0"';
const [IN, OUT] = ['#00aa00ff', '#00000000'];

async function colorsAt(source: Buffer, ...points: ReadonlyArray<readonly [number, number]>) {
  const { files, warnings } = await convert(source, { format: 'png' });
  expect(warnings).toEqual([]);
  const colors = await Promise.all(points.map(([x, y]) => pixel(files[0]!, x, y)));
  return colors.map((color) => `#${Buffer.from(color).toString('hex')}`);
}

describe('an SVG', () => {
  it.each([
    [
      'an attribute',
      '<rect x="30" y="30" width="40" height="40" fill="#0a0" transform="rotate(45)" transform-origin="50 50"/>',
    ],
    [
      'a style',
      '<rect x="30" y="30" width="40" height="40" fill="#0a0" transform="rotate(45)" style="transform-origin:center"/>',
    ],
    [
      'percentages',
      '<g transform="rotate(45)" style="fill:#0a0;transform-origin: 50% 50%;opacity:1"><rect x="30" y="30" width="40" height="40"/></g>',
    ],
    [
      'keywords',
      '<rect x="75" y="75" width="50" height="50" fill="#0a0" transform="rotate(180)" transform-origin="bottom right"/>',
    ],
  ])('turns around the origin in %s', async (name, content) => {
    const expected = name === 'keywords' ? [IN, OUT] : [OUT, IN];

    expect(await colorsAt(svg(content), [99, 99], [50, 25])).toEqual(expected);
  });

  it.each([
    ['circle(30px at 50px 50px)', [50, 25], [5, 5]],
    ['circle(30%)', [50, 25], [5, 5]],
    ['circle()', [50, 5], [5, 5]],
    ['ellipse(10px 40px at 50% 50%)', [50, 15], [25, 50]],
    ['polygon(0 0, 100% 0, 0 100%)', [20, 20], [80, 80]],
    ['inset(10px 60px 10px 10px)', [30, 50], [50, 50]],
  ] as const)('is clipped by %s', async (shape, inside, outside) => {
    for (const clip of [`style="clip-path:${shape}"`, `clip-path="${shape}"`])
      expect(await colorsAt(svg(`${GREEN} ${clip}/>`), inside, outside)).toEqual([IN, OUT]);
  });

  it.each([
    ['(min-width: 1px)', true],
    ['(min-width: 101px)', false],
    ['screen and (max-height:100px)', true],
    ['print', false],
    ['print, screen', true],
    ['(prefers-color-scheme: dark)', false],
    ['not print', true],
    ['screen { @media (max-width: 100px)', true],
  ])('follows the media query %s', async (query, holds) => {
    const end = query.includes('{') ? '}' : '';
    const style = `<style>rect{fill:#00f}@media ${query}{rect{fill:#0a0}}${end}</style>`;

    expect(await colorsAt(svg(`${style}<rect width="100" height="100"/>`), [50, 50])).toEqual([
      holds ? IN : '#0000ffff',
    ]);
  });

  it('gives symbols their size, unless their use states another', async () => {
    const symbol =
      '<symbol id="s" viewBox="0 0 10 10" width="40" height="40"><rect width="10" height="10" fill="#0a0"/></symbol>';
    const uses = '<use href="#s"/><use xlink:href="#s" x="60" width="20" height="20"/>';

    expect(await colorsAt(svg(symbol + uses), [35, 35], [45, 45], [75, 15], [85, 25])).toEqual([
      IN,
      OUT,
      IN,
      OUT,
    ]);
  });

  it('has the background of its root', async () => {
    const source = svg(
      '<circle r="9"/>',
      'width="100" height="50" viewBox="0 0 10 10" style="background:#0a0"',
    );

    expect(await colorsAt(source, [99, 49], [1, 49])).toEqual([IN, IN]);
  });

  it.each([
    ['gif', 'image/gif'],
    ['webp', 'image/webp'],
    ['avif', 'image/avif'],
    ['jpeg', 'image/png'],
    ['png', 'image/jpg;charset=utf-8'],
    ['gif', 'application/octet-stream'],
  ] as const)('shows an embedded %s of the type %s', async (format, type) => {
    const create = { width: 8, height: 8, channels: 3, background: '#0a0' } as const;
    const picture = await sharp({ create })
      .toFormat(format, { lossless: true } as object)
      .toBuffer();
    const image = `<image width="100" height="100" href="data:${type};base64,${picture.toString('base64')}"/>`;

    const [color] = await colorsAt(svg(image), [50, 50]);

    const [red, green, blue] = Buffer.from(color!.slice(1), 'hex');
    expect(Math.abs(red!) + Math.abs(green! - 170) + Math.abs(blue!)).toBeLessThan(12);
  });

  it.each(['utf-16le', 'utf-16be', 'windows-1251'])('may be in %s', async (encoding) => {
    const text = `<?xml version="1.0" encoding="${encoding.slice(0, 6) === 'utf-16' ? 'UTF-16' : encoding}"?>${svg(`${GREEN}/>`)}`;
    const wide = Buffer.from(`\ufeff${text}`, 'utf16le');
    const source =
      { 'utf-16le': wide, 'utf-16be': Buffer.from(wide).swap16() }[encoding] ?? Buffer.from(text);

    expect(await colorsAt(source, [50, 50])).toEqual([IN]);
  });

  it('warns of what is left', async () => {
    const left = [
      '<path d="M0 0h9v9z" style="clip-path:circle(3px)"/>',
      '<rect width="9" height="9" transform="rotate(9)" style="transform-box:fill-box;transform-origin:center"/>',
      '<switch><text systemLanguage="de">a</text></switch>',
      '<image href="data:image/bmp;base64,Qk0="/>',
    ];

    const { warnings } = await convert(svg(left.join('')), { format: 'png' });

    expect(warnings).toEqual([
      expect.stringMatching(
        /transform-origin, clip-path with a shape, systemLanguage, pictures in other formats/,
      ),
    ]);
  });
});

describe('a PNG', () => {
  it.each([false, true])('has the colors that it declares by numbers, as gray: %s', async (isGray) => {
    const create = { width: 8, height: 8, channels: 3, background: { r: 148, g: 148, b: 148 } } as const;
    const png = await sharp({ create }).grayscale(isGray).png().toBuffer();
    const chunk = (data: readonly number[]) => {
      const body = Buffer.from([...Buffer.from('cICP'), ...data]);
      const crc = Buffer.alloc(4);
      crc.writeUInt32BE(crc32(body));
      return Buffer.concat([Buffer.from([0, 0, 0, data.length]), body, crc]);
    };
    const declared = (...data: readonly number[]) =>
      Buffer.concat([png.subarray(0, 33), chunk(data), png.subarray(33)]);

    const [pq, srgb] = [declared(9, 16, 0, 1), declared(1, 13, 0, 1)].map((source) =>
      convert(source, { format: 'png' }),
    );

    expect(await pixel((await pq!).files[0]!, 4, 4)).toEqual([255, 255, 255, 255]);
    expect(await pixel((await srgb!).files[0]!, 4, 4)).toEqual([148, 148, 148, 255]);
  });
});
