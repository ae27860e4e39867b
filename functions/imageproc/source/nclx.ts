import type { Pixels } from '../pixels.ts';

/** Meaning of samples by the numbers of ITU-T H.273, which neither libheif nor libpng applies. */
export interface Nclx {
  readonly primaries: number;
  readonly transfer: number;
}

const [PQ, HLG] = [16, 18];
const [BT2020, P3] = [9, 12];

/** Matrices from linear primaries to those of sRGB, row by row. */
const TO_SRGB: Readonly<Record<number, readonly number[]>> = {
  [BT2020]: [1.6605, -0.5876, -0.0728, -0.1246, 1.1329, -0.0083, -0.0182, -0.1006, 1.1187],
  [P3]: [1.2249, -0.2247, 0, -0.042, 1.0419, 0, -0.0197, -0.0786, 1.0979],
};
const SAME = [1, 0, 0, 0, 1, 0, 0, 0, 1];

/** Luminance of white in candelas per square meter, and the peak of a display for HLG; ITU-R BT.2408 and BT.2100. */
const [WHITE, PEAK] = [203, 1000];
/** Boxes of a file's properties are near its start. */
const HEAD_BYTES = 1 << 18;

/** Returns the colors that an AVIF declares without a profile, if they are not those of sRGB. */
export function readNclx(bytes: Buffer): Nclx | undefined {
  const head = bytes.subarray(0, HEAD_BYTES);
  const at = head.indexOf('colrnclx', 0, 'latin1');
  const hasProfile = ['colrprof', 'colrrICC'].some((box) => head.includes(box, 0, 'latin1'));
  if (at < 0 || at + 12 > head.length || hasProfile) return undefined;
  const [primaries, transfer] = [head.readUInt16BE(at + 8), head.readUInt16BE(at + 10)];
  return unlikeSrgb({ primaries, transfer });
}

/** Returns a meaning of samples unless it is that of sRGB, or unknown. */
export function unlikeSrgb(nclx: Nclx): Nclx | undefined {
  const { primaries, transfer } = nclx;
  return transfer === PQ || transfer === HLG || primaries in TO_SRGB ? nclx : undefined;
}

/** Converts samples to sRGB. What is brighter than white becomes white. */
export function toSrgb(pixels: Pixels, { primaries, transfer }: Nclx): Pixels {
  const { samples, channels } = pixels;
  const max = samples instanceof Uint16Array ? 65_535 : 255;
  const light = Float64Array.from({ length: max + 1 }, (_, code) => lightOf(code / max, transfer));
  const encoded = Float64Array.from({ length: 65_536 }, (_, step) => encode(step / 65_535));
  const matrix = TO_SRGB[primaries] ?? SAME;
  const result = samples instanceof Uint16Array ? new Uint16Array(samples) : new Uint8Array(samples);
  for (let at = 0; at < samples.length; at += channels) {
    const [red, green, blue] = [light[samples[at]!]!, light[samples[at + 1]!]!, light[samples[at + 2]!]!];
    const gain = transfer === HLG ? systemGain(0.2627 * red + 0.678 * green + 0.0593 * blue) : 1;
    for (let channel = 0; channel < 3; channel += 1) {
      const row = 3 * channel;
      const linear = gain * (matrix[row]! * red + matrix[row + 1]! * green + matrix[row + 2]! * blue);
      const step = Math.round(65_535 * Math.min(1, Math.max(0, linear)));
      result[at + channel] = Math.round(max * encoded[step]!);
    }
  }
  return { ...pixels, samples: result };
}

/** Returns linear light, in which 1 is white; for HLG that of the scene. */
function lightOf(value: number, transfer: number): number {
  if (transfer === PQ) {
    const power = value ** (1 / 78.84375);
    return (
      ((10_000 / WHITE) * Math.max(0, power - 0.8359375) ** (1 / 0.1593017578125)) /
      (18.8515625 - 18.6875 * power) ** (1 / 0.1593017578125)
    );
  }
  if (transfer === HLG)
    return value <= 0.5 ? value ** 2 / 3 : (Math.exp((value - 0.55991073) / 0.17883277) + 0.28466892) / 12;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

/** Returns the factor from the light of a scene to that of a display, in which 1 is white. */
function systemGain(luminance: number): number {
  return (PEAK / WHITE) * luminance ** 0.2;
}

function encode(linear: number): number {
  return linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
}
