/**
 * Turns 8-bit gray pixels into black (0) and white (255) in place, with Floyd-Steinberg error diffusion: the rounding
 * error of each pixel is spread over its neighbors.
 */
export function dither(pixels: Uint8Array, width: number): void {
  let current = new Float32Array(width + 2);
  let next = new Float32Array(width + 2);
  for (let start = 0; start < pixels.length; start += width) {
    for (let x = 0; x < width; x += 1) {
      const value = pixels[start + x]! + current[x + 1]!;
      const rounded = value < 128 ? 0 : 255;
      pixels[start + x] = rounded;
      const error = (value - rounded) / 16;
      current[x + 2]! += error * 7;
      next[x]! += error * 3;
      next[x + 1]! += error * 5;
      next[x + 2]! += error;
    }
    [current, next] = [next, current];
    next.fill(0);
  }
}
