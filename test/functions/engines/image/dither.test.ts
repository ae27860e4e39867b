import { describe, expect, it } from 'vitest';
import { dither } from '../../../../functions/engines/image/dither.ts';

describe('dither', () => {
  it.each([0, 40, 128, 200, 255])('keeps the average brightness of gray %i', (gray) => {
    const pixels = new Uint8Array(64 * 64).fill(gray);

    dither(pixels, 64);

    const mean = pixels.reduce((sum, pixel) => sum + pixel, 0) / pixels.length;
    expect(pixels.every((pixel) => pixel === 0 || pixel === 255)).toBe(true);
    expect(Math.abs(mean - gray)).toBeLessThan(3);
  });
});
