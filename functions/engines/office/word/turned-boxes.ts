const BOX = /<wp:(anchor|inline)\b(?:(?!<wp:(?:anchor|inline)\b|<wpg:).)*?<\/wp:\1>/gs;
const TURN = /(<wps:spPr\b[^<>]*><a:xfrm\b[^<>]*?) rot="(5400000|16200000)"/;
/** Shapes that look the same if they are turned. */
const EVEN = /<a:prstGeom prst="(?:rect|roundRect|ellipse)"/;

/** Turns the text of boxes by a quarter, as Word does. LibreOffice turns only the box. */
export function turnBoxes(part: string): string {
  if (!part.includes('<wps:txbx')) return part;
  return part.replace(BOX, (box) => {
    const [, , turn] = TURN.exec(box) ?? [];
    const [, width = '', height = ''] = /<wp:extent cx="(\d+)" cy="(\d+)"/.exec(box) ?? [];
    const [bodyTag = ''] = /<wps:bodyPr\b[^<>]*>/.exec(box) ?? [];
    const isTurned = turn && width && box.includes('<wps:txbx') && EVEN.test(box);
    if (!isTurned || /\bvert="(?!horz)/.test(bodyTag)) return box;
    const direction = turn === '5400000' ? 'vert' : 'vert270';
    const shift = Math.round((Number(width) - Number(height)) / 2);
    // The middle of the box stays where it is.
    const move = (by: number) => (_: string, tag: string, offset: string) => `${tag}${Number(offset) + by}`;
    const turned = bodyTag
      .replace(/ vert="horz"/, '')
      .replace('<wps:bodyPr', `<wps:bodyPr vert="${direction}"`);
    return box
      .replace(TURN, '$1')
      .replace(/(<(?:wp:extent|a:ext)) cx="(\d+)" cy="(\d+)"/g, '$1 cx="$3" cy="$2"')
      .replace(/(<wp:positionH\b[^<>]*><wp:posOffset>)(-?\d+)/, move(shift))
      .replace(/(<wp:positionV\b[^<>]*><wp:posOffset>)(-?\d+)/, move(-shift))
      .replace(bodyTag, turned);
  });
}
