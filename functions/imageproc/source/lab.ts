/** Returns sRGB of CIE Lab with the white point of ImageMagick and libvips (D65): L from 0 to 100, results from 0 to 1. */
export function labToRgb(lightness: number, a: number, b: number): [number, number, number] {
  const fy = (lightness + 16) / 116;
  const cube = (value: number) => (value > 6 / 29 ? value ** 3 : (value - 4 / 29) * 3 * (6 / 29) ** 2);
  const [x, y, z] = [0.95047 * cube(fy + a / 500), cube(fy), 1.08883 * cube(fy - b / 200)];
  return [
    encodeSrgb(3.2404542 * x - 1.5371385 * y - 0.4985314 * z),
    encodeSrgb(-0.969266 * x + 1.8760108 * y + 0.041556 * z),
    encodeSrgb(0.0556434 * x - 0.2040259 * y + 1.0572252 * z),
  ];
}

/** Applies the transfer curve of sRGB to a linear value. */
export function encodeSrgb(value: number): number {
  const bounded = Math.min(1, Math.max(0, value));
  return bounded <= 0.0031308 ? bounded * 12.92 : 1.055 * bounded ** (1 / 2.4) - 0.055;
}
