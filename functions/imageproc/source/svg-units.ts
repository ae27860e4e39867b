/** CSS pixels per unit of length. */
const UNITS = { in: 96, cm: 96 / 2.54, mm: 96 / 25.4, pt: 96 / 72, pc: 16 } as const;

/** A tag or a style sheet. Text between tags is not changed. */
const MARKUP = /<style\b[\s\S]*?<\/style>|<[^>]*>/gi;
const LENGTH = /(?<=[=:,\s"'])([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(in|cm|mm|pt|pc)(?=[\s"',;}!])/gi;

/**
 * Converts the physical lengths of an SVG to pixels, at 96 per inch as in CSS. libvips assumes that its own
 * resolution is that of the units, and would scale by it again.
 */
export function lengthsInPixels(svg: Buffer): Buffer {
  // One character per byte, because the markup is ASCII in all accepted encodings.
  const text = svg.toString('latin1');
  if (text.search(LENGTH) < 0) return svg;
  const changed = text.replace(MARKUP, (markup) =>
    markup.replace(LENGTH, (_, value: string, unit: string) => {
      const pixels = Number(value) * UNITS[unit.toLowerCase() as keyof typeof UNITS];
      return String(Number(pixels.toFixed(6)));
    }),
  );
  return Buffer.from(changed, 'latin1');
}
