import sharp from 'sharp';
import { makePdf, numberedPages } from '../../fixtures/pdf.ts';

export const RED = [255, 0, 0, 255];
export const BLUE = [0, 0, 255, 255];
export const WHITE = [255, 255, 255, 255];
export const BLACK = [0, 0, 0, 255];

/** One page of 300 x 200 points with a red square top left and a blue one bottom right. */
export const small = makePdf(numberedPages(1, { width: 300, height: 200 }));

/** Returns the size and the format of an image file. */
export async function sizeOf(picture: Buffer) {
  const { width, height, format } = await sharp(picture).metadata();
  return { width, height, format };
}
