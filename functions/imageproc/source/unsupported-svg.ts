/** Features of SVG that librsvg does not draw, with their names in messages. */
const FEATURES: ReadonlyArray<readonly [name: string, pattern: RegExp]> = [
  ['var()', /\bvar\(\s*--/],
  ['color-mix()', /\bcolor-mix\(/],
  ['colors such as oklch()', /[:"'\s](?:ok)?l(?:ch|ab)\(/],
  ['foreignObject', /<(?:\w+:)?foreignObject\b/],
  ['textPath', /<(?:\w+:)?textPath\b/],
  ['textLength', /\stextLength\s*=/],
];

/** Returns a warning if an SVG has features that are not drawn. */
export function unsupportedSvg(svg: Buffer): string | undefined {
  // Attributes may also be in comments, which costs no more than a needless warning.
  const text = svg.toString('latin1');
  const found = FEATURES.filter(([, pattern]) => pattern.test(text)).map(([name]) => name);
  if (found.length === 0) return undefined;
  return `This SVG uses ${found.join(', ')}, which imageproc may not draw as browsers do. html2image does.`;
}
