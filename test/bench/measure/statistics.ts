/** The value below which a share of the values lies, with linear interpolation. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  if (sorted.length === 0) return Number.NaN;
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)]!;
  return below + (sorted[Math.ceil(place)]! - below) * (place - Math.floor(place));
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** The least-squares line through points, and how much of the variation it explains (R²). */
export function line(points: ReadonlyArray<readonly [number, number]>) {
  const count = points.length;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / count;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / count;
  const sum = (term: (x: number, y: number) => number) =>
    points.reduce((total, [x, y]) => total + term(x - meanX, y - meanY), 0);
  const slope = sum((x, y) => x * y) / sum((x) => x * x);
  const start = meanY - slope * meanX;
  const missed = points.reduce((total, [x, y]) => total + (y - start - slope * x) ** 2, 0);
  return { slope, start, explained: 1 - missed / sum((_x, y) => y * y) };
}
