import type { FleetPoint } from '../fleet/simulate.ts';
import type { Curve } from '../rows/curve.ts';
import type { Row } from '../rows/row.ts';
import type { Throughput } from '../rows/throughput.ts';
import { lineChart } from './line-chart.ts';
import { ROW_HEIGHT, ratioChart } from './ratio-chart.ts';
import { type Box, element } from './svg.ts';

const WIDTH = 960;
const MARGIN = 24;
const CHART = { width: (WIDTH - 3 * MARGIN) / 2, height: 230 };

/** Draws all measurements as one image for the README. */
export function writePlot(measured: {
  readonly rows: readonly Row[];
  readonly curves: readonly Curve[];
  readonly throughput: readonly Throughput[];
  readonly fleet: readonly FleetPoint[];
}): string {
  const { curves, throughput, fleet } = measured;
  const timed = measured.rows.filter(
    ({ unit, theirs, peer }) => unit === 'ms' && theirs !== undefined && !peer.startsWith('over'),
  );
  const ratiosHeight = timed.length === 0 ? 0 : 30 + timed.length * ROW_HEIGHT + 40;
  const charts: Array<(box: Box) => string> = curves.flatMap(({ name, points }) => [
    (box: Box) =>
      lineChart(
        [{ name, points: points.map(({ pages, milliseconds }) => [pages, milliseconds]) }],
        { title: name, x: 'pages', y: 'ms' },
        box,
      ),
    (box: Box) =>
      lineChart(
        [{ name, points: points.map(({ pages, memory }) => [pages, memory]) }],
        { title: 'Its peak memory, engine included', x: 'pages', y: 'MiB' },
        box,
      ),
  ]);
  if (throughput.length > 0) {
    const series = throughput.map(({ tool, points }) => ({ name: tool, points }));
    charts.push((box) =>
      lineChart(series, { title: 'Calls a second', x: 'calls at once', y: '/s', logarithmicX: true }, box),
    );
  }
  if (fleet.length > 0) {
    const of = (name: 'p50' | 'p95' | 'p99') => ({
      name,
      points: fleet.map((point) => [point.callsPerHour, point[name]] as const),
    });
    const title = 'On AWS, simulated: time of a call, cold starts included';
    charts.push((box) =>
      lineChart(
        [of('p50'), of('p95'), of('p99')],
        { title, x: 'calls an hour', y: 'ms', logarithmicX: true },
        box,
      ),
    );
    const dollars = [
      { name: '', points: fleet.map((point) => [point.callsPerHour, point.per1000] as const) },
    ];
    charts.push((box) =>
      lineChart(
        dollars,
        { title: 'On AWS, simulated: cost', x: 'calls an hour', y: 'US$ per 1000 calls', logarithmicX: true },
        box,
      ),
    );
  }

  const chartsTop = MARGIN + ratiosHeight;
  const height = chartsTop + Math.ceil(charts.length / 2) * (CHART.height + MARGIN) + MARGIN;
  const drawn = charts.map((draw, index) =>
    draw({
      ...CHART,
      left: MARGIN + (index % 2) * (CHART.width + MARGIN),
      top: chartsTop + Math.floor(index / 2) * (CHART.height + MARGIN),
    }),
  );
  const ratios = ratioChart(timed, {
    left: MARGIN,
    top: MARGIN,
    width: WIDTH - 2 * MARGIN,
    height: ratiosHeight,
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="Helvetica, Arial, sans-serif">`,
    element('rect', { width: WIDTH, height, fill: '#ffffff' }),
    ratios,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}
