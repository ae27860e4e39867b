import type { Size } from '../../shared/options/geometry.ts';

/** Average width of a capital letter of Helvetica-Bold, relative to the font size. */
const LETTER_WIDTH = 0.75;
/** Length of a word relative to the side of its square. */
const SPREAD = 0.8;
const ANGLE = Math.PI / 6;
/** Maximum number of words along the longer side of a page. */
const MAX_WORDS = 50;

/**
 * Returns a PDF with one page of `size` in points that shows a word of capital letters in translucent red, in each square
 * along the longer side.
 */
export function stampPdf(word: string, { width, height }: Size): Buffer {
  const side = Math.max(1, Math.min(width, height));
  const count = Math.min(MAX_WORDS, Math.max(1, Math.round(Math.max(width, height) / side)));
  const fontSize = (SPREAD * side) / (LETTER_WIDTH * word.length);
  const [cos, sin] = [Math.cos(ANGLE), Math.sin(ANGLE)];
  const texts = Array.from({ length: count }, (_, index) => {
    const along = (index + 0.5) / count;
    const [x, y] = width > height ? [width * along, height / 2] : [width / 2, height * along];
    // Moves from the middle of the square back to the start of the baseline.
    const [back, down] = [(SPREAD * side) / 2, 0.35 * fontSize];
    const left = x - back * cos + down * sin;
    const bottom = y - back * sin - down * cos;
    return `BT /F ${fixed(fontSize)} Tf ${[cos, sin, -sin, cos, left, bottom].map(fixed).join(' ')} Tm (${word}) Tj ET`;
  });
  const content = `/T gs 0.8 0 0 rg\n${texts.join('\n')}`;
  return assemble([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${fixed(width)} ${fixed(height)}] /Contents 4 0 R /Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >> >> /ExtGState << /T << /ca 0.4 >> >> >> >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
  ]);
}

/** Writes numbered objects as a PDF. The first is the catalog. */
function assemble(objects: readonly string[]): Buffer {
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}`;
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(text + table + trailer, 'latin1');
}

function fixed(value: number): string {
  return value.toFixed(3);
}

/** Returns a PDF with empty pages of A4. */
export function blankPdf(pageCount: number): Buffer {
  const kids = Array.from({ length: pageCount }, (_, index) => `${index + 3} 0 R`);
  const page = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << >> >>';
  return assemble([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${pageCount} >>`,
    ...kids.map(() => page),
  ]);
}
