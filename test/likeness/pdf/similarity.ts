import sharp from 'sharp';

export interface Gray {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
}

/** Slightly blurred, because readers do not notice a shift by part of a pixel. */
export async function gray(image: Buffer): Promise<Gray> {
  const { data, info } = await sharp(image)
    .flatten({ background: '#fff' })
    .toColorspace('b-w')
    .blur(1)
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

/** Mean structural similarity (Wang and others, 2004) over windows of 8x8 pixels. */
export function similarityOf(one: Gray, other: Gray): number {
  const side = Math.min(8, one.width, one.height);
  const [c1, c2] = [(0.01 * 255) ** 2, (0.03 * 255) ** 2];
  let total = 0;
  let windows = 0;
  for (let top = 0; top + side <= one.height; top += side) {
    for (let left = 0; left + side <= one.width; left += side) {
      let [a, b, aa, bb, ab] = [0, 0, 0, 0, 0];
      for (let y = top; y < top + side; y += 1) {
        for (let x = left; x < left + side; x += 1) {
          const p = one.data[y * one.width + x]!;
          const q = other.data[y * one.width + x]!;
          a += p;
          b += q;
          aa += p * p;
          bb += q * q;
          ab += p * q;
        }
      }
      const n = side * side;
      const [ma, mb] = [a / n, b / n];
      const [va, vb, cov] = [aa / n - ma * ma, bb / n - mb * mb, ab / n - ma * mb];
      total += ((2 * ma * mb + c1) * (2 * cov + c2)) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
      windows += 1;
    }
  }
  return total / windows;
}

/** Returns the share of words that two texts have in common, however they are arranged. */
export function commonWords(one: string, other: string): number {
  const [a, b] = [countWords(one), countWords(other)];
  const total = sum(a.values()) + sum(b.values());
  const common = sum([...a].map(([word, count]) => Math.min(count, b.get(word) ?? 0)));
  return total === 0 ? 1 : (2 * common) / total;
}

const DIRECTIONS = /[\u200e\u200f\u202a-\u202e]/g;

function countWords(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  // Ligatures and other presentation forms as the letters they show, without marks of the writing direction.
  for (const word of text.normalize('NFKC').replace(DIRECTIONS, '').split(/\s+/)) {
    if (word !== '') counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, number) => total + number, 0);
}
