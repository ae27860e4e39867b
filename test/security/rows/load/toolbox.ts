import { makePdf, numberedPages } from '../../../fixtures/pdf.ts';
import { pdfOf } from '../../../fixtures/pdf-text.ts';
import type { Row } from '../../row.ts';
import { neighborRow, repeat } from './neighbor-row.ts';

type Part = readonly [name: string, value: string | Uint8Array];

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="100000" height="100000"><rect width="9" height="9"/></svg>';

/** Merges, forms, stamps and attachments that are costly or refer to themselves. */
export const toolbox: Row = neighborRow({
  name: 'toolbox',
  title: 'costly merges, forms, stamps and attachments',
  figures: 'untyped responses; slowest request of another account',
  async attack({ port, attacker }) {
    const failures: string[] = [];
    const attacks = Object.entries(costlyParts());
    await repeat(attacks.length, 3, async (index) => {
      const [name, parts] = attacks[index]!;
      const form = new FormData();
      const call: Part[] = [
        ['app', 'pdftools'],
        ['outfile', 'x.pdf'],
        ['apikey', attacker.apiKey],
      ];
      for (const [part, value] of [...call, ...parts])
        form.append(part, typeof value === 'string' ? value : new Blob([new Uint8Array(value)]));
      const response = await fetch(`http://127.0.0.1:${port}/api/json`, { method: 'POST', body: form });
      const { code } = (await response.json()) as { code?: string };
      if (response.status !== 200 && (code === undefined || code === 'INTERNAL'))
        failures.push(`${name}: ${response.status} ${code}`);
    });
    return { figure: `${failures.length} of ${attacks.length}`, failures };
  },
});

function costlyParts(): Record<string, readonly Part[]> {
  const many = makePdf(numberedPages(2000));
  const one = makePdf(numberedPages(1));
  const nested = (open: string, close: string) => Buffer.from(open.repeat(100_000) + close.repeat(100_000));
  const entities = Array.from({ length: 20 }, (_, level) =>
    level === 0 ? '<!ENTITY e0 "lol">' : `<!ENTITY e${level} "${`&e${level - 1};`.repeat(10)}">`,
  ).join('');
  return {
    'the same 2,000 pages 40 times': [
      ['infile', many],
      ...Array.from({ length: 40 }, (): Part => ['-append', many]),
    ],
    '90 documents': [['infile', one], ...Array.from({ length: 90 }, (): Part => ['-append', one])],
    'pages repeated 100,000 times': [
      ['infile', many],
      ['-pages', Array(100_000).fill('1').join(',')],
    ],
    'pages that contain each other': [
      ['infile', selfReferring()],
      ['-append', selfReferring()],
      ['-number', '%p'],
    ],
    'values nested 100,000 deep': [
      ['infile', one],
      ['-fill', nested('[', ']')],
    ],
    'objects nested 100,000 deep': [
      ['infile', one],
      ['-fill', nested('{"a":', '}')],
    ],
    'XFDF with entities': [
      ['infile', one],
      ['-fill', Buffer.from(`<!DOCTYPE x [${entities}]><xfdf><fields><field name="&e19;"/></fields></xfdf>`)],
    ],
    'a picture of 10,000 megapixels as the stamp': [
      ['infile', many],
      ['-stamp', Buffer.from(SVG)],
    ],
    'a stamp of 2,000 pages': [
      ['infile', many],
      ['-stamp', many],
      ['-underlay', many],
    ],
    'a watermark of all characters': [
      ['infile', many],
      ['-watermark', String.fromCodePoint(...Array.from({ length: 500 }, (_, index) => 0x4e00 + index))],
    ],
    '60 attached files': [['infile', many], ...Array.from({ length: 60 }, (): Part => ['-attach', one])],
    'images reduced on pages that draw themselves': [
      ['infile', selfReferring()],
      ['-optimize', '20'],
    ],
  };
}

/** A document whose page tree, form and destinations refer to themselves. */
function selfReferring(): Buffer {
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R /Outlines 5 0 R >>',
    '<< /Type /Pages /Kids [3 0 R 2 0 R] /Count 2 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R /Resources << /XObject << /X 6 0 R >> >> >>',
    '<< /Length 5 >> stream\n/X Do\nendstream',
    '<< /Type /Outlines /First 5 0 R /Last 5 0 R /Next 5 0 R /Count 1 >>',
    '<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >> /Length 11 >> stream\n/X Do /X Do\nendstream',
  ]);
}
