import { paragraph, sentence, word } from '../../fixtures/words.ts';
import { randomNumbers } from '../../helpers/random.ts';

const STYLE = `
  body { font: 15px/1.5 sans-serif; margin: 40px; color: #222 }
  h1, h2 { font-family: serif } table { border-collapse: collapse; width: 100% }
  td, th { border: 1px solid #ccc; padding: 4px 8px } tr:nth-child(even) { background: #f4f6fa }
  .sheet { break-after: page } .grid { display: grid; grid-template-columns: repeat(3, 1fr); gap: 12px }
  .card { border-radius: 8px; box-shadow: 0 1px 4px #0004; padding: 12px; background: linear-gradient(#fff, #eef) }
  img { max-width: 100% }
`;

/** Typical web pages: file name to HTML. They show `photo.jpg` from the same folder. */
export function writePages(): ReadonlyMap<string, string> {
  const random = randomNumbers(7);
  const rows = (count: number) =>
    Array.from(
      { length: count },
      () =>
        `<tr><td>${word(random)}</td><td>${sentence(random)}</td><td>${(random() * 900).toFixed(2)}</td></tr>`,
    ).join('');
  const paragraphs = (count: number) =>
    Array.from({ length: count }, () => `<p>${paragraph(random)}</p>`).join('');
  const cards = Array.from(
    { length: 12 },
    (_, index) =>
      `<div class="card"><h2>${word(random)}</h2><p>${sentence(random)}</p><svg id="c${index}" viewBox="0 0 200 60"></svg></div>`,
  );
  return new Map([
    ['note.html', page('A note', `<h1>A note</h1>${paragraphs(3)}`)],
    [
      'article.html',
      page('An article', `<h1>An article</h1><img src="photo.jpg" width="600">${paragraphs(24)}`),
    ],
    ['invoice.html', page('An invoice', `<h1>Invoice</h1><table>${rows(60)}</table>`)],
    [
      'board.html',
      page('A board', `<h1>Board</h1><div class="grid">${cards.join('')}</div><script>${DRAW}</script>`),
    ],
    [
      'gallery.html',
      page(
        'A gallery',
        `<h1>Gallery</h1><div class="grid">${'<img src="photo.jpg" loading="lazy" width="300" height="225">'.repeat(12)}</div>`,
      ),
    ],
  ]);
}

/** A web page that prints on `count` A4 pages. */
export function writeSheets(count: number): string {
  const random = randomNumbers(count);
  const sheet = (number: number) =>
    `<section class="sheet"><h2>Sheet ${number}</h2>${Array.from({ length: 6 }, () => `<p>${paragraph(random)}</p>`).join('')}</section>`;
  return page(`${count} sheets`, Array.from({ length: count }, (_, index) => sheet(index + 1)).join(''));
}

const DRAW = `
  document.querySelectorAll('svg').forEach((svg, index) => {
    const points = Array.from({ length: 50 }, (_, step) => step * 4 + ',' + (30 + 25 * Math.sin(step / (2 + index))));
    svg.innerHTML = '<polyline fill="none" stroke="#36c" stroke-width="2" points="' + points.join(' ') + '"/>';
  });
`;

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title><style>${STYLE}</style></head><body>${body}</body></html>`;
}
