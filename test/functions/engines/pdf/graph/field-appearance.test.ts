import { expect, it } from 'vitest';
import { FieldAppearance } from '../../../../../functions/engines/pdf/graph/field-appearance.ts';
import { Graph } from '../../../../../functions/engines/pdf/graph/graph.ts';
import type { Typesetter } from '../../../../../functions/engines/pdf/graph/typesetter.ts';

it.each(['/', '1', '1 '])('does not search a long default appearance of %s', (text) => {
  const graph = new Graph({
    qpdf: [{ maxobjectid: 1 }, { trailer: { value: { '/Root': '1 0 R' } }, 'obj:1 0 R': { value: {} } }],
  });
  const field = { '/DA': `u:${text.repeat(500_000 / text.length)}`, '/Rect': [0, 0, 9, 90] };

  expect(new FieldAppearance(graph, field, 'none', {} as Typesetter).rowCount).toBe(6);
});
