/**
 * Turns 8-bit grey pixels into black (0) and white (255) in place, row by row, spreading each pixel's error over its
 * neighbours after Floyd and Steinberg, so that greys come out as dots.
 */
export function dither(pixels: Uint8Array, width: number): void {
  let here = new Float32Array(width + 2);
  let below = new Float32Array(width + 2);
  for (let start = 0; start < pixels.length; start += width) {
    for (let x = 0; x < width; x += 1) {
      const wanted = pixels[start + x]! + here[x + 1]!;
      const given = wanted < 128 ? 0 : 255;
      pixels[start + x] = given;
      const error = (wanted - given) / 16;
      here[x + 2]! += error * 7;
      below[x]! += error * 3;
      below[x + 1]! += error * 5;
      below[x + 2]! += error;
    }
    [here, below] = [below, here];
    below.fill(0);
  }
}
