import { type Box, COLOURS, element, GREY, label, PALE, scale, stroke, ticks } from './svg.ts';

export interface Series {
  readonly name: string;
  readonly points: ReadonlyArray<readonly [x: number, y: number]>;
}

interface Axes {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  /** Whether the axis is logarithmic. */
  readonly logarithmicX?: boolean;
}

/** Draws series on the same axes, starting at 0. */
export function lineChart(series: readonly Series[], axes: Axes, box: Box): string {
  const { title, logarithmicX = false } = axes;
  const area = {
    left: box.left + 52,
    right: box.left + box.width - 12,
    top: box.top + 42,
    bottom: box.top + box.height - 34,
  };
  const all = series.flatMap(({ points }) => points);
  const xs = all.map(([x]) => x);
  // Space for the names above the lines.
  const most = (series.length > 1 ? 1.3 : 1.08) * Math.max(...all.map(([, y]) => y));
  const x = scale(
    [logarithmicX ? Math.min(...xs) : 0, Math.max(...xs)],
    [area.left, area.right],
    logarithmicX,
  );
  const y = scale([0, most], [area.bottom, area.top]);

  const parts = [label(title, box.left, box.top + 4, { size: 13, weight: 600 })];
  for (const value of ticks(most)) {
    parts.push(
      stroke(
        [
          [area.left, y(value)],
          [area.right, y(value)],
        ],
        PALE,
        1,
      ),
    );
    parts.push(label(value.toLocaleString('en'), area.left - 6, y(value) + 4, { anchor: 'end', fill: GREY }));
  }
  for (const value of logarithmicX ? [...new Set(xs)] : ticks(Math.max(...xs))) {
    const text = value.toLocaleString('en', { notation: 'compact' });
    parts.push(label(text, x(value), area.bottom + 15, { anchor: 'middle', fill: GREY }));
  }
  parts.push(label(axes.x, area.right, area.bottom + 30, { anchor: 'end', fill: GREY }));
  parts.push(label(axes.y, box.left, area.top - 8, { fill: GREY }));
  series.forEach(({ name, points }, index) => {
    const colour = COLOURS[index % COLOURS.length]!;
    parts.push(
      stroke(
        points.map(([px, py]) => [x(px), y(py)]),
        colour,
      ),
    );
    for (const [px, py] of points)
      parts.push(element('circle', { cx: x(px).toFixed(1), cy: y(py).toFixed(1), r: 2.5, fill: colour }));
    if (series.length > 1) {
      const left = area.left + 10 + (index % 3) * 110;
      const top = area.top + 6 + Math.floor(index / 3) * 15;
      parts.push(
        element('rect', { x: left, y: top - 8, width: 10, height: 10, fill: colour }),
        label(name, left + 14, top + 1),
      );
    }
  });
  return parts.join('\n');
}
