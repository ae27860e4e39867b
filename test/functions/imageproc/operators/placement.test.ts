import { expect, it } from 'vitest';
import { place } from '../../../../functions/imageproc/operators/placement.ts';

it.each([
  [undefined, 2, 3],
  ['NorthWest', 2, 3],
  ['Center', 47, 23],
  ['SouthEast', 88, 37],
])('counts offsets inwards from the edge of gravity %s', (gravity, left, top) => {
  const box = { width: 10, height: 10 };

  expect(place(box, { x: 2, y: 3 }, { width: 100, height: 50 }, gravity)).toEqual({ ...box, left, top });
});
