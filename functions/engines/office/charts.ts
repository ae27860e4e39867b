import { type Edit, emptyElement, isOn, readMarkup, type Tag, withAttributes } from './markup.ts';

/** A series of a chart whose elements are being read. */
interface Series {
  /** Name of the element around, such as `c:barChart`. */
  readonly kind: string;
  hasLabels: boolean;
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

/** Labels of all values, in the order of the schema. */
const LABELS = ['LegendKey', 'Val', 'CatName', 'SerName', 'Percent', 'BubbleSize']
  .map((what) => emptyElement(`c:show${what}`, { val: what === 'Val' ? '1' : '0' }))
  .join('');
const LEGEND = '<c:legend><c:legendPos val="b"/><c:overlay val="0"/></c:legend>';
/** Children of a series that stand before the formats and labels of its points. */
const HEAD = /^c:(idx|order|tx|spPr|invertIfNegative|pictureOptions|dPt)$/;

/**
 * Changes charts with negative values. LibreOffice 25.2 draws them as positive ones if their colors are to be inverted, so each gets
 * its color itself. LibreOffice draws a data table at zero, over the negative bars, so labels and a legend replace it.
 * @throws Error if the text is not well-formed.
 */
export function chartEdits(chart: string): Edit[] {
  const hasTable = chart.includes('<c:dTable');
  if (!hasTable && !chart.includes('<c:invertIfNegative')) return [];
  const { edits, bars, table, position } = readChart(chart);
  const isCovered = hasTable && bars.some(({ negative }) => negative.length > 0);
  if (!isCovered || !table) return edits;
  const hasLegend = chart.includes('<c:legend>') || !/<c:showKeys(?: val="(?:1|true)")?\s*\/>/.test(chart);
  const labels = bars
    .filter(({ hasLabels }) => !hasLabels)
    .map(({ place }) => ({ start: place, end: place, text: `<c:dLbls>${LABELS}</c:dLbls>` }));
  const end = chart.indexOf('</c:plotArea>') + '</c:plotArea>'.length;
  return [
    ...edits,
    ...labels,
    { ...table, text: '' },
    ...(position ? [withAttributes(position, { val: 'low' })] : []),
    ...(hasLegend ? [] : [{ start: end, end, text: LEGEND }]),
  ];
}

function readChart(chart: string) {
  const edits: Edit[] = [];
  const bars: Series[] = [];
  /** Where the data table is, and where the labels of its categories are. */
  let table: { start: number; end: number } | undefined;
  let position: Tag | undefined;
  let series: Series | undefined;
  let index = '';
  let start = 0;
  readMarkup(chart, {
    open(tag, path) {
      const { name, attributes } = tag;
      if (name === 'c:dTable') start = tag.start;
      if (name === 'c:tickLblPos' && /^c:(cat|date)Ax$/.test(path.at(-1) ?? '')) position ??= tag;
      if (name === 'c:ser') series = newSeries(tag.end, path.at(-1) ?? '');
      if (!series) return;
      if (name === 'c:invertIfNegative') {
        series.switches.push(tag);
        if (path.at(-1) === 'c:ser') series.isInverted = isOn(attributes.val);
      }
      if (name === 'c:spPr' || name === 'c14:spPr') start = tag.end;
      if (name === 'c:pt') index = attributes.idx ?? '';
      if (name === 'c:dLbls') series.hasLabels = true;
      if (name === 'c:idx' && path.at(-1) === 'c:dPt') series.formatted.add(attributes.val ?? '');
    },
    text(text, path) {
      if (path.at(-1) !== 'c:v' || !path.includes('c:val') || !(Number(text) < 0)) return;
      series?.negative.push(index);
    },
    close(name, path, end) {
      if (name === 'c:dTable') table = { start, end };
      if (!series) return;
      const parent = path.at(-1);
      const content = () => chart.slice(start, chart.lastIndexOf('<', end - 1));
      if (name === 'c:spPr' && parent === 'c:ser') series.shape = content();
      if (name === 'c14:spPr' && parent === 'c14:invertSolidFillFmt') series.invertedShape = content();
      if (parent === 'c:ser' && HEAD.test(name)) series.place = end;
      if (name !== 'c:ser') return;
      edits.push(...seriesEdits(series));
      if (/^c:bar(3D)?Chart$/.test(series.kind)) bars.push(series);
      series = undefined;
    },
  });
  return { edits, bars, table, position };
}

function newSeries(place: number, kind: string): Series {
  return {
    kind,
    hasLabels: false,
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
