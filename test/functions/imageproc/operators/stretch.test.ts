import { describe, expect, it } from 'vitest';
import {
  autoLevel,
  contrastStretch,
  normalize,
  posterize,
  sepia,
} from '../../../../functions/imageproc/operators/stretch.ts';
import { fromLinear, gamma, level, toLinear } from '../../../../functions/imageproc/operators/tones.ts';
import { type Pixels, widen } from '../../../../functions/imageproc/pixels.ts';

/** Shades of gray from 50 to 200, each once. */
const ramp: Pixels = {
  samples: Uint8Array.from({ length: 151 * 3 }, (_, at) => 50 + Math.floor(at / 3)),
  width: 151,
  height: 1,
  channels: 3,
};

const shade = ({ samples }: Pixels, x: number) => samples[x * 3];

describe('levels', () => {
  it('puts the black and the white point at the ends', () => {
    const made = level(ramp, { black: 100 / 255, white: 150 / 255, gamma: 1 });

    expect([0, 50, 60, 100, 150].map((x) => shade(made, x))).toEqual([0, 0, 51, 255, 255]);
  });

  it('stretches the whole range', () => {
    const made = autoLevel(ramp);

    expect([0, 30, 150].map((x) => shade(made, x))).toEqual([0, 51, 255]);
  });

  it('makes the given shares of pixels black and white', () => {
    const made = contrastStretch(ramp, [0.1, 0.2]);

    // 15 of 151 pixels are darker than 10 %, 30 lighter than 20 %.
    expect([shade(made, 15), shade(made, 16)]).toEqual([0, 2]);
    expect(shade(made, 120)).toBe(255);
    expect(shade(made, 119)).toBeLessThan(255);
  });

  it('normalizes by 0.15 % and 0.05 %, which is less than one of 151 pixels', () => {
    expect(normalize(ramp)).toEqual(autoLevel(ramp));
  });

  it('does not change an image of a single color', () => {
    const plain: Pixels = { samples: new Uint8Array(30).fill(77), width: 10, height: 1, channels: 3 };

    expect(autoLevel(plain)).toEqual(plain);
    expect(normalize(plain)).toEqual(plain);
  });

  it('works on 16 bits', () => {
    const made = autoLevel(widen(ramp));

    expect([0, 30, 150].map((x) => shade(made, x))).toEqual([0, 13_107, 65_535]);
  });
});

describe('tones', () => {
  it('has a gamma for each channel', () => {
    const one: Pixels = { samples: Uint8Array.of(60, 55, 53), width: 1, height: 1, channels: 3 };

    // ImageMagick 6.9.11: -gamma 1.2,1,.8 makes 76.36, 55, 35.79.
    expect([...gamma(one, [1.2, 1, 0.8]).samples]).toEqual([76, 55, 36]);
  });

  it('has 4 values for each channel when posterized to 4', () => {
    const values = new Set(posterize(ramp, 4).samples);

    expect([...values]).toEqual([85, 170]);
  });

  it('becomes sepia: red above green above blue', () => {
    const { samples } = sepia(ramp, 0.8);
    const middle = [...samples.slice(75 * 3, 76 * 3)] as [number, number, number];

    expect(middle[0]).toBeGreaterThan(middle[1]);
    expect(middle[1]).toBeGreaterThan(middle[2]);
  });

  it('is restored from linear light', () => {
    const there = toLinear(widen(ramp));

    expect(shade(there, 100)).toBeLessThan(shade(widen(ramp), 100)!);
    const back = fromLinear(there).samples;
    expect(back.every((value, at) => Math.abs(value - widen(ramp).samples[at]!) <= 6)).toBe(true);
  });
});
