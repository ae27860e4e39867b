import { describe, expect, it } from 'vitest';
import { readNclx, toSrgb } from '../../../../functions/imageproc/source/nclx.ts';

const box = (primaries: number, transfer: number) =>
  Buffer.concat([
    Buffer.from('....ftypavif....colrnclx', 'latin1'),
    Buffer.from([0, primaries, 0, transfer, 0, 6, 128, 0]),
  ]);

describe('the declared colors of an AVIF', () => {
  it.each([
    [9, 16],
    [9, 18],
    [12, 13],
  ])('are read if they are not those of sRGB: primaries %i, transfer %i', (primaries, transfer) => {
    expect(readNclx(box(primaries, transfer))).toEqual({ primaries, transfer });
  });

  it.each([
    ['sRGB', box(1, 13)],
    ['unspecified', box(2, 2)],
    ['in a profile', Buffer.concat([box(9, 16), Buffer.from('colrprof')])],
    ['cut off', box(9, 16).subarray(0, 26)],
    ['missing', Buffer.from('ftypavif')],
  ])('are left to the decoder if they are %s', (_, bytes) => {
    expect(readNclx(bytes)).toBeUndefined();
  });
});

describe('samples', () => {
  const convert = (colors: { primaries: number; transfer: number }, samples: number[], depth: 8 | 16 = 8) => {
    const typed = depth === 16 ? Uint16Array.from(samples) : Uint8Array.from(samples);
    return [...toSrgb({ samples: typed, width: 1, height: 1, channels: 3 }, colors).samples];
  };

  it.each([
    // Reference white, and a peak that is brighter, by ITU-R BT.2408.
    [{ primaries: 9, transfer: 16 }, [148, 148, 148], 255],
    [{ primaries: 9, transfer: 16 }, [255, 255, 255], 255],
    [{ primaries: 9, transfer: 18 }, [191, 191, 191], 255],
    [{ primaries: 9, transfer: 16 }, [0, 0, 0], 0],
  ])('are as bright on a display for sRGB: %j %j', (colors, samples, expected) => {
    for (const channel of convert(colors, samples)) expect(Math.abs(channel - expected)).toBeLessThan(3);
  });

  it('keep their color in other primaries', () => {
    // The red of sRGB in Display P3.
    const [red, green, blue] = convert({ primaries: 12, transfer: 13 }, [234, 51, 35]);

    expect([red! > 250, green! < 8, blue! < 8]).toEqual([true, true, true]);
  });

  it('may have 16 bits', () => {
    expect(convert({ primaries: 9, transfer: 16 }, [65_535, 0, 0], 16)[0]).toBe(65_535);
  });
});
