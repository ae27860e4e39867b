/** The state of the service at one moment, and the requests of the second account since the last one. */
export interface Sample {
  readonly seconds: number;
  /** In milliseconds. */
  readonly requests: readonly number[];
  readonly failures: number;
  /** Resident MiB of all processes. */
  readonly memory: number;
  readonly descriptors: number;
}

const WIDTH = 900;
const HEIGHT = 170;
const LEFT = 70;
const TOP = 30;

/** Returns the value below which a share of the numbers lies. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/** Draws requests, failures, memory and descriptors over time, as SVG. */
export function plot(samples: readonly Sample[]): string {
  const each = (value: (sample: Sample) => number) => samples.map(value);
  const panels: ReadonlyArray<readonly [title: string, ...lines: number[][]]> = [
    [
      'Second account, ms: median and worst of each interval',
      each(({ requests }) => percentile(requests, 0.5)),
      each(({ requests }) => Math.max(0, ...requests)),
    ],
    ['Failed requests of the second account', each(({ failures }) => failures)],
    ['Memory of all processes, MiB', each(({ memory }) => memory)],
    ['Descriptors of all processes', each(({ descriptors }) => descriptors)],
  ];
  const end = Math.max(1, samples.at(-1)?.seconds ?? 0);
  const x = (seconds: number) => LEFT + ((WIDTH - LEFT - 20) * seconds) / end;
  const drawn = panels.map(([title, ...lines], index) => {
    const top = index * HEIGHT + TOP;
    const bottom = (index + 1) * HEIGHT - 20;
    const most = Math.max(1, ...lines.flat());
    const y = (value: number) => bottom - ((bottom - top) * value) / most;
    const points = (line: readonly number[]) =>
      line.map((value, at) => `${x(samples[at]!.seconds).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
    return `<text x="${LEFT}" y="${top - 8}">${title}</text>
<path d="M${LEFT} ${top}V${bottom}H${WIDTH - 20}" fill="none" stroke="#999"/>
<text x="${LEFT - 6}" y="${top + 6}" text-anchor="end">${Math.round(most)}</text><text x="${LEFT - 6}" y="${bottom}" text-anchor="end">0</text>
${lines.map((line, at) => `<polyline points="${points(line)}" fill="none" stroke="${['#06c', '#c40'][at]}"/>`).join('\n')}`;
  });
  const height = panels.length * HEIGHT + 20;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="#fff"/>
${drawn.join('\n')}
<text x="${WIDTH - 20}" y="${height - 6}" text-anchor="end">${Math.round(end / 60)} minutes</text>
</svg>
`;
}
