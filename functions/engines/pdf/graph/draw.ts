import { boxOf, type Matrix, operators, PageCanvas, positionOf } from './canvas.ts';
import type { ContentEnds } from './contents.ts';
import { type Graph, isReference, type Page } from './graph.ts';
import type { GraphWork, Stamp, Text } from './operations.ts';
import { fixed, type Typesetter } from './typesetter.ts';

/** Share of the page's diagonal or width that a watermark spans. */
const SPAN = 0.8;
/** Maximum font size of a watermark in points. */
const MAX_SIZE = 400;

/**
 * The blend modes and grays of rectangles that cover a page. `/Color` removes hue and saturation. The others double
 * the distance from white, and make white of all that is not black then.
 */
const COVERS: Readonly<Record<GraphWork['color'], ReadonlyArray<readonly [mode: string, gray: number]>>> = {
  rgb: [],
  gray: [['/Color', 1]],
  mono: [
    ['/Color', 1],
    ['/ColorBurn', 0.5],
    // Programs differ in what they do with 1.
    ['/ColorDodge', 0.996],
  ],
};

/** Draws stamps and texts on pages. `sheets` are the pages that contain the stamps. */
export function drawOnPages(
  graph: Graph,
  sheets: readonly Page[],
  { stamps, texts, color: pageColor, pageCount, isFlat }: GraphWork,
  typesetter: Typesetter,
  contents: ContentEnds,
): void {
  const canvases = new Map<number, PageCanvas>();
  const canvasOf = (index: number) => {
    const page = graph.pages[index];
    if (!page) return undefined;
    const canvas = canvases.get(index) ?? new PageCanvas(graph, page);
    canvases.set(index, canvas);
    return canvas;
  };
  const states = new Map<number, string>();
  const stateOf = (opacity: number) => {
    if (opacity >= 1) return undefined;
    const ref = states.get(opacity) ?? graph.add({ '/Type': '/ExtGState', '/ca': opacity, '/CA': opacity });
    states.set(opacity, ref);
    return ref;
  };

  for (const stamp of stamps) drawStamp(stamp);
  for (const text of texts) drawText(text);
  for (const [mode, gray] of COVERS[pageColor]) {
    const state = graph.add({ '/Type': '/ExtGState', '/BM': mode });
    for (let index = 0; index < pageCount; index += 1) canvasOf(index)?.cover(state, gray);
  }
  for (const [index, { ref, dict }] of graph.pages.entries()) {
    if (!isFlat || dict['/Annots'] === undefined) continue;
    // qpdf draws annotations that become part of a page after its contents.
    canvasOf(index);
    // It empties the list with the first of the pages that share it.
    graph.merge(ref, { '/Annots': graph.list(dict['/Annots']) });
  }
  for (const canvas of canvases.values()) canvas.finish(contents);

  function drawStamp({ pages, place, opacity, first, count, isUnder, scale }: Stamp): void {
    const forms = sheets.slice(first, first + count).map((sheet) => formOf(graph, sheet));
    const state = stateOf(opacity);
    for (const [index, form] of forms.entries()) {
      // As a group, its parts do not show through each other.
      if (form && state) graph.merge(form.ref, { '/Group': { '/S': '/Transparency' } });
      forms[index] = form;
    }
    for (const index of pages) {
      const canvas = canvasOf(index);
      const form = forms[Math.min(index, forms.length - 1)];
      if (!canvas || !form) continue;
      const { shown } = canvas;
      const fit = Math.min(shown.width / form.width, shown.height / form.height);
      const factor = scale === 'fit' ? fit : (scale ?? Math.min(1, fit));
      const size = { width: form.width * factor, height: form.height * factor };
      const [left, bottom] = positionOf(place, size, shown);
      const matrix: Matrix = [factor, 0, 0, factor, left - form.left * factor, bottom - form.bottom * factor];
      canvas.draw(form.ref, matrix, { state, isUnder });
    }
  }

  function drawText({ pages, place, opacity, text, start, font, size, color, angle }: Text): void {
    const last = start === undefined ? 0 : start + pageCount - 1;
    const forms = new Map<string, { ref: string; width: number; height: number }>();
    const [cos, sin] = [Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)];
    for (const index of pages) {
      const canvas = canvasOf(index);
      if (!canvas) continue;
      const shownText =
        start === undefined
          ? text
          : text.replace(/%[pn]/g, (name) => String(name === '%p' ? start + index : last));
      const { shown } = canvas;
      const line = typesetter.line(shownText, font);
      const points = size ?? spanning(line, shown, [Math.abs(cos), Math.abs(sin)]);
      const key = `${points}/${shownText}`;
      const form = forms.get(key) ?? write(line, points);
      forms.set(key, form);
      // Size of the turned text.
      const box = {
        width: form.width * Math.abs(cos) + form.height * Math.abs(sin),
        height: form.width * Math.abs(sin) + form.height * Math.abs(cos),
      };
      const [left, bottom] = positionOf(place, box, shown);
      const [x, y] = [left + box.width / 2, bottom + box.height / 2];
      const [across, up] = [form.width / 2, form.height / 2];
      const matrix: Matrix = [cos, sin, -sin, cos, x - across * cos + up * sin, y - across * sin - up * cos];
      canvas.draw(form.ref, matrix, { state: stateOf(opacity) });
    }

    function write(line: ReturnType<Typesetter['line']>, points: number) {
      const [width, height] = [line.width * points, line.height * points];
      const content = `BT ${operators(color)} rg ${line.operators(points)} ET`;
      const ref = graph.addStream(
        {
          '/Type': '/XObject',
          '/Subtype': '/Form',
          // Letters may extend beyond their own space.
          '/BBox': [-points, -points, width + points, height + points].map((side) => Number(fixed(side))),
          '/Resources': { '/Font': typesetter.fonts() },
          '/Group': { '/S': '/Transparency' },
        },
        content,
      );
      return { ref, width, height };
    }
  }
}

/** Returns the font size at which a turned line spans the page. */
function spanning(
  { width, height }: { width: number; height: number },
  page: { width: number; height: number },
  [cos, sin]: readonly [number, number],
): number {
  const across = width * cos + height * sin;
  const down = width * sin + height * cos;
  return Math.min(MAX_SIZE, (SPAN * page.width) / across, (SPAN * page.height) / down);
}

/** Returns the form that qpdf made of a stamp's page, with its bounds. */
function formOf(graph: Graph, { dict }: Page) {
  const objects = graph.dict(graph.dict(dict['/Resources'])['/XObject']);
  // `/Fx0` is the empty page below.
  const ref = objects['/Fx1'];
  if (!isReference(ref)) return undefined;
  const form = graph.dict(ref);
  const box = boxOf(graph, form['/BBox']);
  if (!box) return undefined;
  const given = graph.list(form['/Matrix']).map((value) => graph.number(value));
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = given.length === 6 ? given : [];
  const corners = [0, 2].flatMap((x) => [1, 3].map((y) => [box[x]!, box[y]!] as const));
  const xs = corners.map(([x, y]) => a * x + c * y + e);
  const ys = corners.map(([x, y]) => b * x + d * y + f);
  const [left, bottom] = [Math.min(...xs), Math.min(...ys)];
  return { ref, left, bottom, width: Math.max(...xs) - left, height: Math.max(...ys) - bottom };
}
