import { describe, expect, it } from 'vitest';
import type { Standard } from '../../../../../../functions/engines/pdf/finish-options.ts';
import { readContent } from '../../../../../../functions/engines/pdf/graph/content.ts';
import { Graph, type Value } from '../../../../../../functions/engines/pdf/graph/graph.ts';
import { conformDocument } from '../../../../../../functions/engines/pdf/graph/standard/conform.ts';
import { pdfDate, xmpDate } from '../../../../../../functions/engines/pdf/graph/standard/metadata.ts';

/** Archives a document with one page. */
function archive(
  content: string,
  {
    standard = 'PDF/A-2b',
    catalog = {},
    page = {},
    font = 'Helvetica',
  }: Partial<Record<'catalog' | 'page', object>> & {
    readonly standard?: Standard;
    readonly font?: string;
  } = {},
) {
  const entries: Record<string, Value> = {
    '1 0 R': { '/Type': '/Catalog', '/Pages': '2 0 R', ...catalog },
    '2 0 R': { '/Type': '/Pages', '/Kids': ['3 0 R'], '/Count': 1 },
    '3 0 R': {
      '/Type': '/Page',
      '/MediaBox': [0, 0, 100, 100],
      '/Contents': '4 0 R',
      '/Resources': { '/Font': { '/F': '5 0 R' } },
      ...page,
    },
    '5 0 R': { '/Type': '/Font', '/Subtype': '/Type1', '/BaseFont': `/${font}` },
    '6 0 R': { '/Title': 'u:A & B', '/CreationDate': "u:D:20260131120000+01'00'", '/ModDate': 'u:yesterday' },
  };
  const objects = Object.fromEntries(
    Object.entries(entries).map(([ref, value]) => [`obj:${ref}`, { value }]),
  );
  const graph = new Graph({
    qpdf: [
      { maxobjectid: 6 },
      {
        ...objects,
        'obj:4 0 R': { stream: { dict: {} } },
        trailer: { value: { '/Root': '1 0 R', '/Info': '6 0 R' } },
      },
    ],
  });
  const read = (ref: Value | undefined) => (ref === '4 0 R' ? Buffer.from(content) : undefined);
  return { graph, ...conformDocument(graph, read, standard) };
}

describe('a document that becomes PDF/A', () => {
  it('gets a color profile and metadata that agree with its information', () => {
    const { graph, obstacles } = archive('1 0 0 rg 0 0 9 9 re f');

    expect(obstacles).toEqual([]);
    expect(graph.data(graph.root['/Metadata'])?.toString()).toMatch(
      /pdfaid:part>2<[\s\S]*A &#38; B[\s\S]*2026-01-31T12:00:00\+01:00/,
    );
    expect(graph.dict('6 0 R')).not.toHaveProperty('/ModDate');
    expect(graph.list(graph.root['/OutputIntents'])).toHaveLength(1);
  });

  it.each([
    ['a font that is not embedded', 'BT /F 9 Tf (x) Tj ET', {}, 'The font Helvetica is not embedded.'],
    [
      'a font whose name is not ASCII',
      'BT /F 9 Tf (x) Tj ET',
      { font: '微软雅黑' },
      'A font is not embedded.',
    ],
    [
      'a font whose name has a line break',
      'BT /F 9 Tf (x) Tj ET',
      { font: 'MS-雅\r\nX: y' },
      'The font MS-?X: y is not embedded.',
    ],
    ['CMYK', '0 0 0 1 k', {}, 'Colors are CMYK without a profile.'],
    ['an unknown operator', '1 foo', {}, 'A content stream has an operator that is not defined.'],
    [
      'transparency in PDF/A-1',
      '',
      { standard: 'PDF/A-1b', page: { '/Resources': { '/ExtGState': { '/G': { '/ca': 0.5 } } } } },
      'The document has transparent parts, which PDF/A-1 does not allow.',
    ],
    [
      'an annotation without an appearance',
      '',
      { page: { '/Annots': [{ '/Subtype': '/Square', '/Rect': [0, 0, 9, 9] }] } },
      'An annotation of type Square has no appearance.',
    ],
  ] as const)('must not have %s', (_, content, document, obstacle) => {
    expect(archive(content, document).obstacles).toEqual([obstacle]);
  });

  it('loses scripts and hidden annotations, and keeps links', () => {
    const link = {
      '/Subtype': '/Link',
      '/Rect': [0, 0, 9, 9],
      '/A': { '/S': '/URI', '/URI': 'u:https://a' },
    };
    const { graph, obstacles, warnings } = archive('', {
      catalog: { '/OpenAction': { '/S': '/JavaScript', '/JS': 'u:app.alert(1)' } },
      page: { '/Annots': [link, { ...link, '/F': 2 }] },
    });

    expect(obstacles).toEqual([]);
    expect(warnings).toEqual([
      'Hidden annotations were removed.',
      'Scripts and actions that PDF/A does not allow were removed.',
    ]);
    expect(graph.root).not.toHaveProperty('/OpenAction');
    expect(graph.list(graph.dict('3 0 R')['/Annots'])).toEqual([{ ...link, '/F': 4 }]);
  });
});

it('reads strings, inline images and saved fonts of content', () => {
  const content = readContent(
    Buffer.from('q /A 1 Tf Q /B 1 Tf (a\\(\\051) Tj [<62> 3 (c)] TJ BI /W 1 ID \x01\x02 EI /X Do', 'latin1'),
  );

  expect(content.problems.size).toBe(0);
  expect([...content.texts.get('B')!]).toEqual(['a()', 'b', 'c']);
  expect([...content.objects]).toEqual(['X']);
});

it('reads dates with and without a time zone', () => {
  expect(xmpDate('D:2026')).toBe('2026-01-01T00:00:00+00:00');
  expect(xmpDate("D:20260131120000-05'30'")).toBe('2026-01-31T12:00:00-05:30');
  expect(xmpDate('D:20261331')).toBeUndefined();
  expect(pdfDate('2026-01-31T12:00:00-05:30')).toBe("u:D:20260131120000-05'30'");
});
