import sharp from 'sharp';
import type { Size } from '../../shared/options/geometry.ts';

/**
 * A tag or a style sheet. Text between tags is not changed. Here and below, no pattern searches past the place where the
 * next match could begin, because it would search the rest of the text from each.
 */
const TAG = /<(?:\w+:)?[a-z][\w]*\b(?:"[^"]*"|'[^']*'|[^'"<>])*>/gi;
const STYLE_SHEET = /(<style\b[^<>]*>)([\s\S]*?)(<\/style>|(?=<style\b)|$)/gi;
/** Size of an SVG without width, height and view box, as in browsers. */
const DEFAULT_SIZE: Size = { width: 300, height: 150 };
/** Maximum number and pixels of embedded pictures that are converted, and maximum depth of nested media queries. */
const MAX_PICTURES = 1000;
const MAX_EMBEDDED = 16_000_000;
const MAX_QUERIES = 20;
/** Half the side of a square that covers every drawing. */
const FAR = 1e6;

/**
 * Rewrites what librsvg does not draw: media queries, origins of transforms, basic shapes that clip, sizes of symbols, the background
 * of the drawing, and pictures in other formats than JPEG and PNG. `text` has one character per byte, and lengths in pixels.
 */
export async function rewriteSvg(text: string, maxPixels: number): Promise<string> {
  const root = /<(?:\w+:)?svg\b(?:"[^"]*"|'[^']*'|[^'"<>])*>/.exec(text)?.[0] ?? '';
  const size = sizeOf(root);
  let svg = text;
  if (/@media\b/i.test(svg)) {
    svg = svg.replace(STYLE_SHEET, (_, open, sheet, close) => open + withoutQueries(sheet, size) + close);
  }
  const background = /\bbackground(?:-color)?\s*:\s*([#\w]+|rgba?\([^()]*\))\s*(?:;|$)/i.exec(
    styleOf(root),
  )?.[1];
  if (background !== undefined) {
    const cover = `<rect x="${-FAR}" y="${-FAR}" width="${2 * FAR}" height="${2 * FAR}" fill="${background}" stroke="none"/>`;
    const plain = root.replace(/\bbackground(?:-color)?\s*:/i, '--background:');
    svg = svg.replace(root, () => (root.endsWith('/>') ? root : plain + cover));
  }
  if (/\btransform-origin\b/.test(svg)) svg = svg.replace(TAG, (tag) => withOrigin(tag, size));
  if (SHAPE.test(svg)) {
    let count = 0;
    svg = svg.replace(TAG, (tag) => withClip(tag, () => `docmill-clip-${++count}`));
  }
  if (/<(?:\w+:)?symbol\b[^<>]*\s(?:width|height)\s*=/.test(svg)) svg = withSymbolSizes(svg);
  // librsvg goes by the media type, which is often wrong.
  svg = svg.replace(EMBEDDED, (_, head: string) => `data:image/${SIGNATURES[head]};base64,${head}`);
  return FOREIGN_PICTURE.test(svg) ? withPngs(svg, Math.min(maxPixels, MAX_EMBEDDED)) : svg;
}

function attribute(tag: string, name: string): string | undefined {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(tag);
  return found?.[1] ?? found?.[2];
}

function styleOf(tag: string): string {
  return attribute(tag, 'style') ?? '';
}

/** Returns the value of a property, which an inline style overrides. */
function property(tag: string, name: string): string | undefined {
  return (
    new RegExp(`(?:^|;)\\s*${name}\\s*:\\s*([^;]*)`).exec(styleOf(tag))?.[1]?.trim() ?? attribute(tag, name)
  );
}

function withoutProperty(tag: string, name: string): string {
  const asAttribute = new RegExp(`\\s${name}\\s*=\\s*(?:"[^"]*"|'[^']*')`);
  const inStyle = new RegExp(`(\\sstyle\\s*=\\s*["'](?:[^"']*;)?)\\s*${name}\\s*:[^;"']*`);
  return tag.replace(asAttribute, '').replace(inStyle, '$1');
}

function withAttribute(tag: string, name: string, value: string): string {
  return withoutProperty(tag, name).replace(/\/?>$/, (end) => ` ${name}="${value}"${end}`);
}

/** Reads a length in pixels, or a percentage of `whole`. */
function lengthOf(text: string | undefined, whole: number): number | undefined {
  const [, number, unit] =
    /^\s*([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?)(px|%)?\s*$/i.exec(text ?? '') ?? [];
  if (number === undefined) return undefined;
  return unit === '%' ? (Number(number) / 100) * whole : Number(number);
}

function sizeOf(root: string): Size {
  const [, , width, height] = (attribute(root, 'viewBox') ?? '')
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  const box = width && height && width > 0 && height > 0 ? { width, height } : undefined;
  return (
    box ?? {
      width: lengthOf(attribute(root, 'width'), DEFAULT_SIZE.width) ?? DEFAULT_SIZE.width,
      height: lengthOf(attribute(root, 'height'), DEFAULT_SIZE.height) ?? DEFAULT_SIZE.height,
    }
  );
}

/** Replaces media queries of a style sheet by their rules if they hold for a picture of this size on a screen. */
function withoutQueries(sheet: string, size: Size, depth = 0): string {
  if (depth > MAX_QUERIES) return '';
  let result = '';
  let from = 0;
  const query = /@media\b([^{@]*)\{/gi;
  for (let found = query.exec(sheet); found; found = query.exec(sheet)) {
    const start = query.lastIndex;
    let end = start;
    for (let level = 1; end < sheet.length && level > 0; end += 1) {
      if (sheet[end] === '{') level += 1;
      else if (sheet[end] === '}') level -= 1;
    }
    const holds = found[1]!.split(',').some((each) => holdsFor(each.trim().toLowerCase(), size));
    result +=
      sheet.slice(from, found.index) +
      (holds ? withoutQueries(sheet.slice(start, end - 1), size, depth + 1) : '');
    from = end;
    query.lastIndex = end;
  }
  return result + sheet.slice(from);
}

function holdsFor(query: string, { width, height }: Size): boolean {
  const [isNegated, rest] = query.startsWith('not ')
    ? [true, query.slice(4)]
    : [false, query.replace(/^only /, '')];
  const holds = rest.split(/\sand\s/).every((part) => {
    const [, bound, side, value] =
      /^\(\s*(min|max)-(width|height)\s*:\s*([\d.]+)px\s*\)$/.exec(part.trim()) ?? [];
    if (bound === undefined)
      return /^(all|screen|\(\s*prefers-color-scheme\s*:\s*light\s*\))$/.test(part.trim());
    const actual = side === 'width' ? width : height;
    return bound === 'min' ? actual >= Number(value) : actual <= Number(value);
  });
  return holds !== isNegated;
}

const KEYWORDS: Readonly<Record<string, string>> = {
  left: '0%',
  top: '0%',
  center: '50%',
  right: '100%',
  bottom: '100%',
};

/** Puts the origin of a transform into the transform itself. */
function withOrigin(tag: string, size: Size): string {
  const [origin, transform] = [property(tag, 'transform-origin'), attribute(tag, 'transform')];
  if (origin === undefined || property(tag, 'transform-box') === 'fill-box') return tag;
  const parts = origin.split(/\s+/);
  const ordered =
    /^(top|bottom)$/.test(parts[0]!) || /^(left|right)$/.test(parts[1] ?? '') ? [...parts].reverse() : parts;
  const [across = '50%', down = '50%'] = ordered.map((part) => KEYWORDS[part] ?? part);
  const [x, y] = [lengthOf(across, size.width), lengthOf(down, size.height)];
  if (x === undefined || y === undefined || (transform === undefined && /[;"']\s*transform\s*:/.test(tag)))
    return tag;
  const plain = withoutProperty(tag, 'transform-origin');
  if (transform === undefined) return plain;
  return withAttribute(plain, 'transform', `translate(${x} ${y}) ${transform} translate(${-x} ${-y})`);
}

const SHAPE = /\bclip-path\s*[:=]\s*(?:["']\s*)?(circle|ellipse|inset|polygon)\(([^()]*)\)/;

/** Replaces a basic shape that clips an element by a clip path, if the box of the element is known. */
function withClip(tag: string, newId: () => string): string {
  const [, kind, text = ''] = SHAPE.exec(tag) ?? [];
  const box = kind === undefined ? undefined : boxOf(tag);
  const shape = box && shapeOf(kind!, text, box);
  if (!shape) return tag;
  const id = newId();
  return `<clipPath id="${id}">${shape}</clipPath>${withAttribute(tag, 'clip-path', `url(#${id})`)}`;
}

interface Box extends Size {
  readonly x: number;
  readonly y: number;
}

function boxOf(tag: string): Box | undefined {
  const number = (name: string) => lengthOf(property(tag, name) ?? '0', Number.NaN) ?? Number.NaN;
  if (!/^(none)?$/.test(property(tag, 'stroke') ?? '')) return undefined;
  let box: Box | undefined;
  if (/^<(rect|image)\b/.test(tag)) {
    box = { x: number('x'), y: number('y'), width: number('width'), height: number('height') };
  } else if (/^<(circle|ellipse)\b/.test(tag)) {
    const [rx, ry] = tag.startsWith('<circle') ? [number('r'), number('r')] : [number('rx'), number('ry')];
    box = { x: number('cx') - rx, y: number('cy') - ry, width: 2 * rx, height: 2 * ry };
  }
  return box && Object.values(box).every(Number.isFinite) ? box : undefined;
}

function shapeOf(kind: string, text: string, { x, y, width, height }: Box): string | undefined {
  const [radii, at] = text.split(/\bat\s/);
  const [across = '50%', down = '50%'] = (at ?? '')
    .trim()
    .split(/\s+/)
    .filter(Boolean)
    .map((part) => KEYWORDS[part] ?? part);
  const [cx, cy] = [lengthOf(across, width), lengthOf(down, height)];
  const words = (radii ?? '').trim().split(/\s+/).filter(Boolean);
  if (kind === 'circle' || kind === 'ellipse') {
    if (cx === undefined || cy === undefined) return undefined;
    const diagonal = Math.hypot(width, height) / Math.SQRT2;
    const [near, nearX, nearY] = [
      Math.min(cx, width - cx, cy, height - cy),
      Math.min(cx, width - cx),
      Math.min(cy, height - cy),
    ];
    const isCircle = kind === 'circle';
    const rx =
      words[0] === undefined ? (isCircle ? near : nearX) : lengthOf(words[0], isCircle ? diagonal : width);
    const ry = isCircle ? rx : words[1] === undefined ? nearY : lengthOf(words[1], height);
    return rx === undefined || ry === undefined
      ? undefined
      : `<ellipse cx="${x + cx}" cy="${y + cy}" rx="${rx}" ry="${ry}"/>`;
  }
  if (kind === 'polygon') {
    const [, rule = 'nonzero', list = text] = /^\s*(nonzero|evenodd)\s*,(.*)$/s.exec(text) ?? [];
    const points = list.split(',').map((point) => {
      const [px, py] = point.trim().split(/\s+/);
      const [left, top] = [lengthOf(px, width), lengthOf(py, height)];
      return left === undefined || top === undefined ? undefined : `${x + left},${y + top}`;
    });
    return points.includes(undefined)
      ? undefined
      : `<polygon clip-rule="${rule}" points="${points.join(' ')}"/>`;
  }
  const [top, right = top, bottom = top, left = right] = words;
  const sides = [
    lengthOf(top, height),
    lengthOf(right, width),
    lengthOf(bottom, height),
    lengthOf(left, width),
  ];
  if (words.length > 4 || sides.includes(undefined)) return undefined;
  const [t, r, b, l] = sides as [number, number, number, number];
  return `<rect x="${x + l}" y="${y + t}" width="${Math.max(0, width - l - r)}" height="${Math.max(0, height - t - b)}"/>`;
}

/** Gives each use of a symbol the size that the symbol states. */
function withSymbolSizes(svg: string): string {
  const sizes = new Map<string, string>();
  return svg
    .replace(TAG, (tag) => {
      const id = /^<(?:\w+:)?symbol\b/.test(tag) ? attribute(tag, 'id') : undefined;
      if (id !== undefined) sizes.set(id, tag);
      return tag;
    })
    .replace(TAG, (tag) => {
      const symbol =
        /^<(?:\w+:)?use\b/.test(tag) && sizes.get((attribute(tag, '(?:xlink:)?href') ?? '').replace('#', ''));
      if (!symbol) return tag;
      return ['width', 'height'].reduce((sized, name) => {
        const value = attribute(symbol, name);
        return value === undefined || attribute(tag, name) !== undefined
          ? sized
          : withAttribute(sized, name, value);
      }, tag);
    });
}

/** Formats of pictures by the first characters of their base64. */
const SIGNATURES: Readonly<Record<string, string>> = {
  '/9j/': 'jpeg',
  iVBORw0: 'png',
  R0lGOD: 'gif',
  UklGR: 'webp',
};
const EMBEDDED = RegExp(
  `data:[\\w/+.-]*(?:;[\\w=-]+)*;base64,\\s*(${Object.keys(SIGNATURES).join('|')})`,
  'g',
);
const FOREIGN_PICTURE = /data:image\/(gif|webp|avif)(?:;[^,:;"']*)*;base64,([\w+/=\s]+)/;

/** Converts embedded pictures to PNG. Those that cannot be read stay as they are. */
async function withPngs(svg: string, maxPixels: number): Promise<string> {
  let left = maxPixels;
  const parts: string[] = [];
  let from = 0;
  for (const found of [...svg.matchAll(new RegExp(FOREIGN_PICTURE, 'g'))].slice(0, MAX_PICTURES)) {
    const picture = sharp(Buffer.from(found[2]!, 'base64'), { limitInputPixels: left });
    const png = await picture
      .png({ compressionLevel: 1 })
      .toBuffer({ resolveWithObject: true })
      .catch(() => undefined);
    if (!png) continue;
    left = Math.max(1, left - png.info.width * png.info.height);
    parts.push(svg.slice(from, found.index), `data:image/png;base64,${png.data.toString('base64')}`);
    from = found.index + found[0].length;
  }
  return parts.join('') + svg.slice(from);
}
