import { expect, it } from 'vitest';
import { turnBoxes } from '../../../../../functions/engines/office/word/turned-boxes.ts';

interface Given {
  readonly turn?: string;
  readonly shape?: string;
  readonly direction?: string;
  readonly at?: readonly [x: number, y: number];
  readonly size?: readonly [width: number, height: number];
}

const box = ({ turn = '', shape = 'rect', direction = '', at = [1000, 2000], size = [600, 200] }: Given) =>
  `<wp:anchor x="1"><wp:positionH r="page"><wp:posOffset>${at[0]}</wp:posOffset></wp:positionH>` +
  `<wp:positionV><wp:posOffset>${at[1]}</wp:posOffset></wp:positionV><wp:extent cx="${size[0]}" cy="${size[1]}"/>` +
  `<wps:spPr><a:xfrm${turn}><a:ext cx="${size[0]}" cy="${size[1]}"/></a:xfrm><a:prstGeom prst="${shape}"/></wps:spPr>` +
  `<wps:txbx/><wps:bodyPr${direction}></wps:bodyPr></wp:anchor>`;

it.each([
  ['5400000', '', 'vert'],
  ['16200000', ' vert="horz"', 'vert270'],
])('turns the text of a box by %s', (turn, direction, turned) => {
  const part = box({ turn: ` rot="${turn}"`, direction });

  expect(turnBoxes(part)).toBe(box({ direction: ` vert="${turned}"`, at: [1200, 1800], size: [200, 600] }));
});

it.each<Given>([
  {},
  { turn: ' rot="1800000"' },
  { turn: ' rot="5400000"', shape: 'rightArrow' },
  { turn: ' rot="5400000"', direction: ' vert="vert270"' },
])('leaves others alone: %o', (given) => {
  expect(turnBoxes(box(given))).toBe(box(given));
});
