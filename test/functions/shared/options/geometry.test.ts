import { describe, expect, it } from 'vitest';
import {
  applyGeometry,
  type Geometry,
  parseGeometry,
} from '../../../../functions/shared/options/geometry.ts';

const PLAIN = { exact: false, onlyShrink: false, onlyEnlarge: false, fill: false };

/** Output of ImageMagick 6.9.11 for `convert -size S xc:red -resize G -format %wx%h info:` for three sizes S. */
const FACTS = [
  ['200', '200x150', '200x531', '200x59'],
  ['x200', '267x200', '75x200', '680x200'],
  ['200x', '200x150', '200x531', '200x59'],
  ['200x200', '200x150', '75x200', '200x59'],
  ['200x100', '133x100', '38x100', '200x59'],
  ['200x200!', '200x200', '200x200', '200x200'],
  ['300x50!', '300x50', '300x50', '300x50'],
  ['200!', '200x300', '200x799', '200x5'],
  ['x200!', '400x200', '301x200', '17x200'],
  ['200x200>', '200x150', '75x200', '17x5'],
  ['1000x1000>', '400x300', '301x799', '17x5'],
  ['500x200>', '267x200', '75x200', '17x5'],
  ['200x200<', '400x300', '301x799', '200x59'],
  ['1000x1000<', '1000x750', '377x1000', '1000x294'],
  ['500x600<', '500x375', '301x799', '500x147'],
  ['200x200^', '267x200', '200x531', '680x200'],
  ['200x100^', '200x150', '200x531', '340x100'],
  ['200^', '267x200', '200x531', '680x200'],
  ['x200^', '267x200', '200x531', '680x200'],
  ['1000x1000^>', '400x300', '301x799', '17x5'],
  ['200x200^>', '267x200', '200x531', '17x5'],
  ['50%', '200x150', '151x400', '9x3'],
  ['150%', '600x450', '452x1199', '26x8'],
  ['50%x25%', '200x75', '151x200', '9x1'],
  ['33%', '132x99', '99x264', '6x2'],
  ['12.5%', '50x38', '38x100', '2x1'],
  ['40000@', '231x173', '123x326', '369x108'],
  ['1000000@', '1155x866', '614x1629', '1844x542'],
  ['123456@', '406x304', '216x572', '648x191'],
  ['300x1000!>', '300x300', '300x799', '17x5'],
  ['1000x200!<', '1000x300', '1000x799', '1000x200'],
  ['1x1', '1x1', '1x1', '1x1'],
  ['33x7', '9x7', '3x7', '24x7'],
  ['100x1000', '100x75', '100x265', '100x29'],
  ['10x10>', '10x8', '4x10', '10x3'],
  ['150%>', '600x450', '452x1199', '26x8'],
  ['50%<', '200x150', '151x400', '9x3'],
  ['1000000@>', '400x300', '301x799', '17x5'],
  ['40000@>', '231x173', '123x326', '17x5'],
  ['40000@<', '231x173', '123x326', '369x108'],
] as const;

describe('reading a geometry', () => {
  it.each<[string, Partial<Geometry>]>([
    ['800x600', { width: 800, height: 600 }],
    ['800X600', { width: 800, height: 600 }],
    ['800×600', { width: 800, height: 600 }],
    ['800', { width: 800 }],
    ['800x', { width: 800 }],
    ['x600', { height: 600 }],
    ['800x600!', { width: 800, height: 600, exact: true }],
    ['800x600\\!', { width: 800, height: 600, exact: true }],
    ['!800x600', { width: 800, height: 600, exact: true }],
    ['800!x600', { width: 800, height: 600, exact: true }],
    ['800x600>', { width: 800, height: 600, onlyShrink: true }],
    ['800x600<', { width: 800, height: 600, onlyEnlarge: true }],
    ['800x600^', { width: 800, height: 600, fill: true }],
    ['800x600^>', { width: 800, height: 600, fill: true, onlyShrink: true }],
    ['50%', { percent: { x: 50, y: 50 } }],
    ['12.5%x200%', { percent: { x: 12.5, y: 200 } }],
    ['50x25%', { percent: { x: 50, y: 25 } }],
    ['480000@', { area: 480_000 }],
    ['1x1', { width: 1, height: 1 }],
    ['16384x16384', { width: 16_384, height: 16_384 }],
  ])('accepts %s', (value, expected) => {
    expect(parseGeometry(value)).toEqual({ ...PLAIN, ...expected });
  });

  it.each([
    '',
    'x',
    '!',
    '%',
    '@',
    '0',
    '0x0',
    '100x0',
    'x0',
    '16385',
    '1x16385',
    '-1',
    '1.5x2',
    '1e3',
    'axb',
    '100x100x100',
    '100x100<>',
    '0%',
    '%50%',
    '50%x0%',
    '0@',
    '1.5@',
    '100x100@',
    '100x100+10+10',
    ...['９００', '800;600', '1'.repeat(41)],
  ])('rejects %j', (value) => {
    expect(parseGeometry(value)).toBeUndefined();
  });
});

describe('applying a geometry', () => {
  it.each(FACTS)('of %s returns the same size as ImageMagick', (value, ...expected) => {
    const sources = [
      { width: 400, height: 300 },
      { width: 301, height: 799 },
      { width: 17, height: 5 },
    ];

    const sides = sources.map((source) => applyGeometry(parseGeometry(value)!, source));

    expect(sides.map(({ width, height }) => `${width}x${height}`)).toEqual(expected);
  });

  it('never returns a side of 0', () => {
    expect(applyGeometry(parseGeometry('0.1%')!, { width: 17, height: 5 })).toEqual({ width: 1, height: 1 });
    expect(applyGeometry(parseGeometry('1@')!, { width: 900, height: 2 })).toEqual({ width: 21, height: 1 });
  });
});
