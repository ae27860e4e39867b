/** A line in a panel: values at the times of the plot. */
export interface Line {
  readonly name: string;
  readonly values: readonly number[];
}

export interface Panel {
  readonly title: string;
  readonly lines: readonly Line[];
}

const [WIDTH, HEIGHT, LEFT, TOP, GAP] = [900, 150, 70, 30, 50];
const COLORS = ['#1d6fb8', '#c0392b', '#2e8b57', '#8e44ad'];

/** Draws panels below each other as SVG. `minutes` has the time of each value. */
export function plot(minutes: readonly number[], panels: readonly Panel[]): string {
  const end = Math.max(1, minutes.at(-1) ?? 1);
  const height = TOP + panels.length * (HEIGHT + GAP);
  const x = (time: number) => LEFT + ((WIDTH - LEFT - 20) * time) / end;
  const drawn = panels.map(({ title, lines }, index) => {
    const top = TOP + index * (HEIGHT + GAP);
    const most = Math.max(1, ...lines.flatMap(({ values }) => values));
    const y = (value: number) => top + HEIGHT - (HEIGHT * value) / most;
    const names = lines.map(
      ({ name }, at) =>
        `<tspan fill="${COLORS[at % COLORS.length]}" dx="12">${name}, at most ${Math.round(most === 0 ? 0 : Math.max(0, ...lines[at]!.values))}</tspan>`,
    );
    const curves = lines.map(({ values }, at) => {
      const points = values.map((value, place) => `${x(minutes[place]!).toFixed(1)},${y(value).toFixed(1)}`);
      return `<polyline fill="none" stroke="${COLORS[at % COLORS.length]}" points="${points.join(' ')}"/>`;
    });
    return `<text x="${LEFT}" y="${top - 8}">${title}${names.join('')}</text>
<path d="M${LEFT} ${top}V${top + HEIGHT}H${WIDTH - 20}" fill="none" stroke="#888"/>
<text x="${LEFT - 8}" y="${top + 10}" text-anchor="end">${Math.round(most)}</text>
<text x="${WIDTH - 20}" y="${top + HEIGHT + 16}" text-anchor="end">${Math.round(end)} min</text>
${curves.join('\n')}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
${drawn.join('\n')}
</svg>
`;
}
