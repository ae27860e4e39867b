/** Paragraphs with such tabs, and where cells of tables begin and end. */
const PARAGRAPH =
  /<w:tc[ >]|<w:tcW\b[^<>]*>|<\/w:tc>|<w:p(?: [^<>]*)?>(?:(?!<\/?w:p[ >]).)*?<w:ptab\b(?:(?!<\/w:p>).)*<\/w:p>/gs;
const TAB = /<w:ptab\b([^<>]*)\/>/g;

/**
 * Replaces tabs to the middle and the end of the text area, which Word has in headers and LibreOffice leaves out, with tabs and stops.
 * `body` has the size of the page, and `styles` stops that would come before them.
 */
export function replacePositionTabs(part: string, body: string, styles: string): string {
  if (!part.includes('<w:ptab')) return part;
  const section = body.slice(body.lastIndexOf('<w:sectPr'));
  const read = (tag: string, name: string) =>
    Number(new RegExp(`<w:${tag}\\b[^<>]*\\bw:${name}="(\\d+)"`).exec(section)?.[1] ?? 0);
  const width = read('pgSz', 'w') - read('pgMar', 'left') - read('pgMar', 'right') - read('pgMar', 'gutter');
  if (width <= 0) return part;
  const others = styles.matchAll(/<w:tab\b[^<>]*\bw:pos="(\d+)"/g);
  const cleared = [...new Set([...others].map(([, position]) => position))].slice(0, 50);
  const clear = cleared.map((position) => `<w:tab w:val="clear" w:pos="${position}"/>`).join('');
  /** Widths of the cells around a paragraph; 0 if it is not known. */
  const cells: number[] = [];
  return part.replace(PARAGRAPH, (paragraph) => {
    if (!paragraph.startsWith('<w:p')) {
      if (paragraph === '</w:tc>') cells.pop();
      else if (!paragraph.startsWith('<w:tcW')) cells.push(0);
      else if (paragraph.includes('"dxa"'))
        cells.splice(-1, 1, Number(/\bw:w="(\d+)"/.exec(paragraph)?.[1] ?? 0));
      return paragraph;
    }
    // By default, cells have a margin of 108 at each side.
    const end = cells.length > 0 ? cells.at(-1)! - 216 : width;
    if (end <= 0) return paragraph;
    const own = [...paragraph.matchAll(TAB)].flatMap(([, attributes = '']) => {
      const kind = /\bw:alignment="(center|right)"/.exec(attributes)?.[1];
      const leader = /\bw:leader="\w+"/.exec(attributes)?.[0] ?? '';
      return kind
        ? `<w:tab w:val="${kind}" ${leader} w:pos="${kind === 'right' ? end : Math.round(end / 2)}"/>`
        : [];
    });
    const stops = clear + own.join('');
    const replaced = paragraph.replace(TAB, '<w:tab/>').replace('<w:pPr/>', '');
    if (replaced.includes('<w:tabs>')) return replaced.replace('<w:tabs>', `<w:tabs>${stops}`);
    const hasProperties = /^<w:p[^<>]*><w:pPr>/.test(replaced);
    return hasProperties
      ? replaced.replace('<w:pPr>', `<w:pPr><w:tabs>${stops}</w:tabs>`)
      : replaced.replace('>', `><w:pPr><w:tabs>${stops}</w:tabs></w:pPr>`);
  });
}
