import sharp from 'sharp';
import { toColor } from '../options/color.ts';
import { type Font, parseFont } from '../options/font.ts';
import type { Annotation } from '../options/overlay.ts';
import type { Settings } from '../options/steps.ts';
import { type Pixels, render } from '../pixels.ts';
import { blend } from './blend.ts';
import type { Context } from './context.ts';
import { anchor } from './placement.ts';

/** Writes text onto the image. */
export async function annotate(
  pixels: Pixels,
  annotation: Annotation,
  { settings }: Context,
): Promise<Pixels> {
  const { width, height } = pixels;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${textElements(annotation, pixels, settings)}</svg>`;
  const drawn = await render(sharp(Buffer.from(svg), { limitInputPixels: false, density: 72 }), 8);
  return blend(pixels, drawn, { left: 0, top: 0 }, { compose: 'Over' });
}

function textElements(annotation: Annotation, image: Pixels, settings: Settings): string {
  const { text, degrees, offset = { x: 0, y: 0 } } = annotation;
  const font = parseFont(settings.font)!;
  const lines = text.split('\n');
  // Without a gravity, ImageMagick's offset is that of the baseline. Text without a position would then be invisible.
  const gravity = settings.gravity ?? (annotation.offset ? undefined : 'NorthWest');
  const { x: horizontal } = anchor(gravity);
  const x = { start: offset.x, middle: image.width / 2 + offset.x, end: image.width - offset.x }[horizontal];
  const first = firstBaseline(lines.length, image.height, offset.y, gravity, font, settings.pointSize);
  const step = lineHeight(font, settings.pointSize);
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
  gravity: Settings['gravity'],
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
  const { pointSize, fill, stroke, strokeWidth } = settings;
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
