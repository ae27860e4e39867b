import { sentence, word } from '../words.ts';

/** The content of a page: running text, a table, a line chart, an image with text, or a full-page image. */
export type PageKind = 'text' | 'table' | 'chart' | 'picture' | 'scan';

interface Paper {
  readonly page: number;
  readonly random: () => number;
  /** Widths of the characters 32 to 126, in thousandths of the size. */
  readonly widths: readonly number[];
}

const LEFT = 56;
const RIGHT = 539;

/** Writes the content of one A4 page as PDF operators. */
export function drawPage(kind: PageKind, paper: Paper): string {
  if (kind === 'scan') return 'q 595 0 0 842 0 0 cm /Im1 Do Q';
  const head = `${show(`${paper.page}. ${title(paper)}`, 18, LEFT, 770)}\n0.2 0.4 0.7 RG 1.5 w ${LEFT} 760 m ${RIGHT} 760 l S`;
  const foot = show(`Page ${paper.page}`, 9, 285, 30);
  const body = {
    text: () => textBlock(paper, 735, 60),
    table: () => `${tableBlock(paper)}\n${textBlock(paper, 300, 60)}`,
    chart: () => `${chartBlock(paper)}\n${textBlock(paper, 380, 60)}`,
    picture: () => `q 320 0 0 240 137 490 cm /Im1 Do Q\n${textBlock(paper, 465, 60)}`,
  }[kind]();
  return [head, body, foot].join('\n');
}

function title({ random }: Paper): string {
  return [word(random), word(random), word(random)].join(' ');
}

function textBlock(paper: Paper, top: number, bottom: number): string {
  const size = 10;
  const lines: string[] = [];
  let text = '';
  for (let y = top; y > bottom; y -= 14) {
    while (textWidth(text, size, paper.widths) < RIGHT - LEFT) text += ` ${sentence(paper.random)}`;
    let end = text.length;
    while (textWidth(text.slice(0, end), size, paper.widths) > RIGHT - LEFT)
      end = text.lastIndexOf(' ', end - 1);
    lines.push(show(text.slice(0, end).trim(), size, LEFT, y));
    text = text.slice(end).trim();
  }
  return lines.join('\n');
}

function tableBlock({ random }: Paper): string {
  const rows: string[] = ['0.6 G 0.5 w'];
  for (let row = 0; row < 24; row += 1) {
    const y = 735 - row * 17;
    if (row % 2 === 0) rows.push(`0.93 0.95 0.98 rg ${LEFT} ${y - 5} ${RIGHT - LEFT} 17 re f 0 g`);
    for (let column = 0; column < 5; column += 1) {
      const text = row === 0 || column === 0 ? word(random) : (random() * 10_000).toFixed(2);
      rows.push(show(text, 9, LEFT + 4 + column * 97, y));
    }
    rows.push(`${LEFT} ${y - 5} m ${RIGHT} ${y - 5} l S`);
  }
  return rows.join('\n');
}

function chartBlock({ random }: Paper): string {
  const lines: string[] = [`0 G 1 w ${LEFT} 420 m ${LEFT} 730 l S ${LEFT} 420 m ${RIGHT} 420 l S`];
  const colors = ['0.8 0.2 0.2', '0.2 0.5 0.2', '0.2 0.3 0.8', '0.8 0.6 0.1'];
  for (const color of colors) {
    let y = 480 + random() * 150;
    const points = Array.from({ length: 160 }, (_, step) => {
      y = Math.min(725, Math.max(425, y + (random() - 0.5) * 24));
      return `${(LEFT + step * 3).toFixed(1)} ${y.toFixed(1)} ${step === 0 ? 'm' : 'l'}`;
    });
    lines.push(`${color} RG 1.2 w ${points.join(' ')} S`);
  }
  return lines.join('\n');
}

function show(text: string, size: number, x: number, y: number): string {
  return `BT /F1 ${size} Tf ${x} ${y} Td (${text.replace(/[\\()]/g, '\\$&')}) Tj ET`;
}

function textWidth(text: string, size: number, widths: readonly number[]): number {
  let sum = 0;
  for (let index = 0; index < text.length; index += 1) sum += widths[text.charCodeAt(index) - 32] ?? 0;
  return (sum * size) / 1000;
}
