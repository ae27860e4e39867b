import { expect, it } from 'vitest';
import { mendStructure } from '../../../../../functions/engines/pdf/graph/accessible.ts';
import { Graph, type Value } from '../../../../../functions/engines/pdf/graph/graph.ts';

/** Builds a structure such as `['L', ['LI', 'P']]`, and returns it as it is after it was mended. */
function mend(structure: readonly unknown[], entries: Readonly<Record<string, Record<string, Value>>> = {}) {
  const objects: Record<string, { value: Value }> = {};
  const add = (value: Value) => {
    const ref = `${Object.keys(objects).length + 1} 0 R`;
    objects[`obj:${ref}`] = { value };
    return ref;
  };
  const build = (node: unknown): string => {
    const [type, ...kids] = (Array.isArray(node) ? node : [node]) as string[];
    return add({ '/S': `/${type}`, '/K': kids.map(build), ...entries[type!] });
  };
  const tree = add({ '/Type': '/StructTreeRoot', '/K': structure.map(build) });
  const root = add({ '/StructTreeRoot': tree });
  const graph = new Graph({
    qpdf: [{ maxobjectid: 1000 }, { ...objects, trailer: { value: { '/Root': root } } }],
  });
  const obstacles = mendStructure(graph);
  const read = (ref: Value): unknown => {
    const { '/S': type, '/K': kids } = graph.dict(ref);
    const inner = graph.list(kids).map(read);
    return inner.length === 0 ? String(type).slice(1) : [String(type).slice(1), ...inner];
  };
  return { obstacles, structure: graph.list(graph.dict(tree)['/K']).map(read) };
}

it('completes lists and tables', () => {
  expect(mend([['L', ['LI', 'Lbl', 'Link'], 'P']]).structure).toEqual([
    ['L', ['LI', 'Lbl', ['LBody', 'Link']], ['LI', ['LBody', 'P']]],
  ]);
  expect(mend([['Table', ['TR', 'TH', 'TH'], ['TR', 'TD']]]).structure).toEqual([
    ['Table', ['TR', 'TH', 'TH'], ['TR', 'TD', 'TD']],
  ]);
  expect(mend([['Table', ['TR', 'P']], 'TD']).structure).toEqual([['NonStruct', ['NonStruct', 'P']], 'Div']);
});

it('groups pictures in a figure, and names what only the author can mend', () => {
  const described = { Figure: {}, Image: { '/S': '/Figure', '/Alt': 'u:A cat' } };
  expect(mend([['Figure', 'Image', 'Caption']], described)).toEqual({
    obstacles: [],
    structure: [['Div', 'Figure', 'Caption']],
  });
  expect(mend(['H1', 'H3', 'Figure', 'Blink']).obstacles).toEqual([
    'The heading H3 follows H1. No level may be left out.',
    'A picture has no alternative text.',
    'The tag Blink is not defined.',
  ]);
});
