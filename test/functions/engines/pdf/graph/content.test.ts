import { expect, it } from 'vitest';
import { ContentEnds } from '../../../../../functions/engines/pdf/graph/content.ts';
import { Graph } from '../../../../../functions/engines/pdf/graph/graph.ts';

it.each([
  ['ends what is left open', 'q /OC /L BDC (Q) q BT', 'q /OC /L BDC (Q) q BT', 'EMC ET Q Q Q'],
  ['removes each Q without q', '2 0 0 2 0 0 cm Q q Q Q', '2 0 0 2 0 0 cm   q Q  ', 'Q'],
  ['keeps images', 'q BI /W 1 ID Q Q\nEI Q', 'q BI /W 1 ID Q Q\nEI Q', 'Q'],
])('%s in the contents of a page', (_, content, kept, end) => {
  const graph = new Graph({
    qpdf: [
      { maxobjectid: 3 },
      {
        trailer: { value: { '/Root': '1 0 R' } },
        'obj:1 0 R': { value: { '/Pages': '2 0 R' } },
        'obj:2 0 R': { value: { '/Contents': ['3 0 R'] } },
        'obj:3 0 R': { stream: { dict: {}, data: Buffer.from(content).toString('base64') } },
      },
    ],
  });

  const contents = new ContentEnds(graph, (ref) => graph.data(ref)).contentsOf(graph.pages[0]!);

  expect(contents.map((ref) => String(graph.data(ref)).trim())).toEqual(['q', kept.trim(), end]);
});
