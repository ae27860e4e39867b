import type { HeifImage } from 'libheif-js/wasm-bundle.js';
import sharp from 'sharp';
import { encodePng } from '../encode/png-file.ts';
import { type Pixels, render, withoutAlpha } from '../pixels.ts';
import type { Foreign } from './foreign.ts';
import { checkSourcePixels } from './limits.ts';

/** Reads a photo in HEIC format. sharp's libvips has no decoder for it. Its images are the frames, the primary one first. */
export async function readHeic(bytes: Buffer, maxPixels: number): Promise<Foreign> {
  // Loaded when needed, because loading takes 50 ms.
  const { default: heif } = await import('libheif-js/wasm-bundle.js');
  const images = new heif.HeifDecoder().decode(bytes);
  images.sort((one, other) => Number(other.is_primary()) - Number(one.is_primary()));
  const [first] = images;
  if (!first) throw new Error('The HEIC file contains no image.');
  const [width, height] = [first.get_width(), first.get_height()];
  const icc = colorProfile(bytes);
  const decode = (frame: number) => {
    const image = images[frame]!;
    checkSourcePixels(image.get_width(), image.get_height(), maxPixels);
    return decodeImage(image, icc);
  };
  checkSourcePixels(width, height, maxPixels);
  return { frames: images.length, width, height, ...(icc && { icc }), decode };
}

async function decodeImage(image: HeifImage, icc: Buffer | undefined): Promise<Pixels> {
  const [width, height] = [image.get_width(), image.get_height()];
  const target = { data: new Uint8ClampedArray(width * height * 4), width, height };
  const decoded = await new Promise((resolve) => image.display(target, resolve));
  const hasAlpha = image.has_alpha_channel();
  image.free();
  if (!decoded) throw new Error('The image could not be decoded.');
  const samples = new Uint8Array(target.data.buffer);
  const pixels: Pixels = { samples, width, height, channels: 4 };
  const plain = hasAlpha ? pixels : withoutAlpha(pixels);
  return icc ? render(sharp(encodePng(plain, { icc }), { limitInputPixels: false }), 8) : plain;
}

/** Returns the ICC profile of the first `colr` box that has one. */
function colorProfile(bytes: Buffer): Buffer | undefined {
  for (let at = bytes.indexOf('colr'); at >= 4; at = bytes.indexOf('colr', at + 4)) {
    const type = bytes.toString('latin1', at + 4, at + 8);
    const end = at - 4 + bytes.readUInt32BE(at - 4);
    const profile = bytes.subarray(at + 8, end);
    if ((type === 'prof' || type === 'rICC') && profile.toString('latin1', 36, 40) === 'acsp') return profile;
  }
  return undefined;
}
