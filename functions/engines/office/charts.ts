import { type Edit, emptyElement, isOn, readMarkup, type Tag } from './markup.ts';

/** A series of a chart whose elements are being read. */
interface Series {
  /** Switches that draw negative values with inverted colors. */
  readonly switches: Tag[];
  isInverted: boolean;
  readonly negative: string[];
  /** Points that have a format of their own. */
  readonly formatted: Set<string>;
  /** Where formats of points belong. */
  place: number;
  /** Format of the series, and the one that Excel 2010 and later use for negative values. */
  shape: string;
  invertedShape: string;
}

/** Fill of negative values in files of Excel 2007, which has no format for them. */
const WHITE = '<a:solidFill><a:srgbClr val="FFFFFF"/></a:solidFill>';
const FILL = /<a:(solid|grad|patt|blip)Fill\b.*?<\/a:\1Fill>/s;

/**
 * Gives negative values of a chart their inverted color themselves. LibreOffice 25.2 draws them as positive ones if they are to be
 * inverted.
 * @throws Error if the text is not well-formed.
 */
export function chartEdits(chart: string): Edit[] {
  const edits: Edit[] = [];
  if (!chart.includes('<c:invertIfNegative')) return edits;
  let series: Series | undefined;
  let index = '';
  let start = 0;
  readMarkup(chart, {
    open(tag, path) {
      const { name, attributes } = tag;
      if (name === 'c:ser') series = newSeries(tag.end);
      if (!series) return;
      if (name === 'c:invertIfNegative') {
        series.switches.push(tag);
        if (path.at(-1) === 'c:ser') series.isInverted = isOn(attributes.val);
      }
      if (name === 'c:spPr' || name === 'c14:spPr') start = tag.end;
      if (name === 'c:pt') index = attributes.idx ?? '';
      if (name === 'c:idx' && path.at(-1) === 'c:dPt') series.formatted.add(attributes.val ?? '');
    },
    text(text, path) {
      if (path.at(-1) !== 'c:v' || !path.includes('c:val') || !(Number(text) < 0)) return;
      series?.negative.push(index);
    },
    close(name, path, end) {
      if (!series) return;
      const parent = path.at(-1);
      const content = () => chart.slice(start, chart.lastIndexOf('<', end - 1));
      if (name === 'c:spPr' && parent === 'c:ser') series.shape = content();
      if (name === 'c14:spPr' && parent === 'c14:invertSolidFillFmt') series.invertedShape = content();
      if (parent === 'c:ser' && /^c:(idx|order|tx|spPr|invertIfNegative|pictureOptions|dPt)$/.test(name))
        series.place = end;
      if (name !== 'c:ser') return;
      edits.push(...seriesEdits(series));
      series = undefined;
    },
  });
  return edits;
}

function newSeries(place: number): Series {
  return {
    switches: [],
    isInverted: false,
    negative: [],
    formatted: new Set(),
    place,
    shape: '',
    invertedShape: '',
  };
}

function seriesEdits({
  switches,
  isInverted,
  negative,
  formatted,
  place,
  shape,
  invertedShape,
}: Series): Edit[] {
  const off = switches.map(({ name, start, end, isEmpty }) => {
    const text = emptyElement(name, { val: '0' });
    return { start, end, text: isEmpty ? text : text.replace(/\/>$/, '>') };
  });
  if (!isInverted) return off;
  const fill = FILL.exec(invertedShape)?.[0] ?? WHITE;
  const line = /<a:ln\b.*<\/a:ln>|<a:ln\b[^<>]*\/>/s.exec(shape)?.[0] ?? outline(shape, invertedShape);
  const points = negative
    .filter((point) => !formatted.has(point))
    .map(
      (point) =>
        `<c:dPt><c:idx val="${point}"/><c:invertIfNegative val="0"/><c:bubble3D val="0"/>` +
        `<c:spPr>${fill}${line}</c:spPr></c:dPt>`,
    );
  return points.length === 0 ? off : [...off, { start: place, end: place, text: points.join('') }];
}

/** Returns a line in the color of the series around white bars, which would be invisible. */
function outline(shape: string, invertedShape: string): string {
  const fill = /<a:solidFill\b.*?<\/a:solidFill>/s.exec(shape)?.[0];
  return invertedShape === '' && fill ? `<a:ln w="9525">${fill}</a:ln>` : '';
}
