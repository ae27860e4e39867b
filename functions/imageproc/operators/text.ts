import { type Font, parseFont } from '../options/font.ts';
import type { Settings } from '../options/steps.ts';
import { toColor } from '../options/values.ts';
import { apply, type Pixels } from '../pixels.ts';
import { anchor } from './placement.ts';

/** Writes text onto the image. Unlike ImageMagick, librsvg finds fonts for all scripts. */
export function annotate(pixels: Pixels, annotation: readonly string[], settings: Settings): Promise<Pixels> {
  const { width, height } = pixels;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${textElements(annotation, pixels, settings)}</svg>`;
  return apply(pixels, (pipeline) => pipeline.composite([{ input: Buffer.from(svg), density: 72 }]));
}

function textElements(annotation: readonly string[], image: Pixels, settings: Settings): string {
  const [, turn = '0', offsetX = '', offsetY = '', text = ''] = annotation;
  const [degrees, offset] = [Number(turn), { x: Number(offsetX), y: Number(offsetY) }];
  const font = parseFont(settings['-font'] ?? 'Helvetica')!;
  const size = Number(settings['-pointsize'] ?? 12);
  const lines = text.split('\n');
  // Without a gravity, ImageMagick's offset is that of the baseline, so text without a position would be invisible.
  const gravity = settings['-gravity'] ?? (offsetX === '' ? 'NorthWest' : undefined);
  const { x: horizontal } = anchor(gravity);
  const x = { start: offset.x, middle: image.width / 2 + offset.x, end: image.width - offset.x }[horizontal];
  const first = firstBaseline(lines.length, image.height, offset.y, gravity, font, size);
  const step = lineHeight(font, size);
  const style = styleOf(font, settings);
  return lines
    .map((line, index) => {
      const y = first + index * step;
      const turn = degrees === 0 ? '' : ` transform="rotate(${degrees} ${x} ${first})"`;
      return `<text x="${x}" y="${y}" text-anchor="${horizontal}" xml:space="preserve"${turn} ${style}>${escapeXml(line)}</text>`;
    })
    .join('');
}

/** Returns the y of the first line, from the metrics of the font, as in ImageMagick's annotate.c. */
function firstBaseline(
  lines: number,
  height: number,
  offset: number,
  gravity: Settings['-gravity'],
  font: Font,
  size: number,
): number {
  if (gravity === undefined) return offset;
  const ascent = Math.ceil(font.ascent * size);
  const descent = Math.ceil(font.descent * size);
  const rest = (lines - 1) * lineHeight(font, size);
  const { y } = anchor(gravity);
  if (y === 'start') return offset + ascent;
  if (y === 'end') return height - offset - rest - descent;
  return height / 2 + offset - rest / 2 + (ascent - descent) / 2;
}

function lineHeight({ ascent, descent }: Font, size: number): number {
  return Math.ceil(ascent * size) + Math.ceil(descent * size);
}

function styleOf({ family, bold, italic }: Font, settings: Settings): string {
  const {
    '-pointsize': pointSize = '12',
    '-fill': fill = 'black',
    '-stroke': stroke = 'none',
    '-strokewidth': strokeWidth = '1',
  } = settings;
  const attributes = {
    'font-family': family,
    'font-size': pointSize,
    'font-weight': bold ? 'bold' : 'normal',
    'font-style': italic ? 'italic' : 'normal',
    ...paint('fill', fill),
    ...paint('stroke', stroke),
    'stroke-width': strokeWidth,
  };
  return Object.entries(attributes)
    .map(([name, value]) => `${name}="${value}"`)
    .join(' ');
}

function paint(name: 'fill' | 'stroke', text: string) {
  const [red, green, blue, opacity] = toColor(text);
  if (opacity === 0) return { [name]: 'none' };
  const channels = [red, green, blue].map((value) => Math.round(value * 255));
  return { [name]: `rgb(${channels.join(',')})`, [`${name}-opacity`]: opacity };
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
