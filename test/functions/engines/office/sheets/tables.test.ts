import { describe, expect, it } from 'vitest';
import { builtInStyle } from '../../../../../functions/engines/office/sheets/table-styles.ts';
import { tableStyleEdits } from '../../../../../functions/engines/office/sheets/tables.ts';

const FORMATS =
  '<fonts><font><color theme="1"/></font><font><b/><color rgb="FFFF0000"/></font></fonts>' +
  '<fills><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="solid"/></fill></fills>' +
  '<borders><border/></borders><cellXfs><xf/><xf fontId="1"/><xf fillId="1"/></cellXfs>';

interface Given {
  readonly ref?: string;
  readonly style?: string;
  readonly shows?: string;
  readonly counts?: string;
  readonly cells?: string;
  readonly styles?: string;
}

/** Returns the areas of each differential format, and the formats. */
function drawn({
  ref = 'A1:C4',
  style = 'TableStyleMedium9',
  shows = 'showRowStripes="1"',
  ...given
}: Given) {
  const { counts = '', cells = '', styles = FORMATS } = given;
  const parts = new Map([
    ['xl/worksheets/sheet1.xml', `<worksheet><sheetData>${cells}</sheetData><tableParts/></worksheet>`],
    ['xl/worksheets/_rels/sheet1.xml.rels', '<Relationship Target="../tables/table1.xml"/>'],
    [
      'xl/tables/table1.xml',
      `<table ref="${ref}" ${counts}><tableStyleInfo name="${style}" ${shows}/></table>`,
    ],
    ['xl/styles.xml', `<styleSheet>${styles}<extLst><x14:dxfs></x14:dxfs></extLst></styleSheet>`],
    ['xl/theme/theme1.xml', ''],
  ]);
  const edits = tableStyleEdits(parts);
  const [sheet, added] = ['xl/worksheets/sheet1.xml', 'xl/styles.xml'].map(
    (name) =>
      edits
        .get(name)
        ?.map(({ text }) => text)
        .join('') ?? '',
  );
  const areas = [...sheet!.matchAll(/sqref="([^"]*)".*?dxfId="(\d+)"/g)].map(
    ([, at, id]) => [at!, Number(id)] as const,
  );
  return { areas: Object.fromEntries(areas), formats: added!.match(/<dxf>.*?<\/dxf>/g) ?? [], added };
}

const fillOf = (format = '') => /<fgColor ([^/]*)\/>/.exec(format)?.[1];

describe('a table', () => {
  it('has a header and stripes', () => {
    const { areas, formats } = drawn({});

    expect(fillOf(formats[areas['A1:A1']!])).toBe('theme="4"');
    expect(formats[areas['A1:A1']!]).toContain('<font><b/><color theme="0"/></font>');
    expect(formats[areas['A1:A1']!]).toContain('<bottom style="thick"><color theme="0"/></bottom>');
    expect(fillOf(formats[areas['A2:A2']!])).toBe('theme="4" tint="0.6"');
    expect(fillOf(formats[areas['A3:A3']!])).toBe('theme="4" tint="0.8"');
  });

  it.each<[string, Given, string, string | undefined]>([
    ['no header', { counts: 'headerRowCount="0"' }, 'A1:A1', 'theme="4" tint="0.6"'],
    ['a total', { counts: 'totalsRowCount="1"' }, 'A4:A4', 'theme="4"'],
    ['no stripes', { shows: '' }, 'A2:A2 A3:A3', 'theme="4" tint="0.8"'],
    ['a first column', { shows: 'showFirstColumn="1"' }, 'A2:A2 A3:A3', 'theme="4"'],
    ['column stripes', { shows: 'showColumnStripes="1"' }, 'A2:A2 A3:A3', 'theme="4" tint="0.6"'],
    [
      'a hidden row before a stripe',
      { cells: '<row r="2" hidden="1"/>' },
      'A2:A2 A3:A3',
      'theme="4" tint="0.6"',
    ],
  ])('can have %s', (_, given, at, fill) => {
    const { areas, formats } = drawn({ ...given });

    expect(fillOf(formats[areas[at]!])).toBe(fill);
  });

  it('leaves fills and colors of its cells alone', () => {
    const { areas, formats } = drawn({ cells: '<c r="B1" s="2"/><c r="C1" s="1"/>' });

    expect(formats[areas['B1:B1']!]).not.toContain('<fill>');
    expect(formats[areas['C1:C1']!]).toContain('<font><b/></font>');
  });

  it('finds the cells of rows without numbers', () => {
    const cells = '<row><c/></row><row><c t="s"/><c s="2"><v>1</v></c></row>';

    expect(drawn({ cells })).toEqual(drawn({ cells: '<row r="2"><c r="B2" s="2"/></row>' }));
  });

  it('may have a style of the workbook', () => {
    const own = '<dxf><font><i/><color rgb="FF00FF00"/></font></dxf>';
    const element = '<tableStyleElement type="headerRow" dxfId="1"/>';
    const styles = `${FORMATS}<dxfs><dxf/>${own}</dxfs><tableStyles><tableStyle name="Own">${element}</tableStyle></tableStyles>`;

    const { areas, added } = drawn({ style: 'Own', styles });

    // They follow those of the workbook.
    expect(areas).toEqual({ 'A1:C1': 2 });
    expect(added).toBe(own);
  });

  it.each([[{ style: 'None' }], [{ ref: 'A1' }], [{ ref: 'A1:B90000' }]])('stays as it is: %o', (given) => {
    expect(drawn(given)).toMatchObject({ areas: {}, added: '' });
  });
});

it('knows all built-in styles', () => {
  const counts = { Light: 21, Medium: 28, Dark: 11 };

  for (const [kind, count] of Object.entries(counts)) {
    const numbers = Array.from({ length: count + 2 }, (_, index) => index);
    const known = numbers.filter((number) => builtInStyle(`TableStyle${kind}${number}`));
    expect(known).toEqual(numbers.slice(1, -1));
  }
});

it.each([
  ['Light1', 'firstRowStripe', 'theme="0" tint="-0.15"'],
  ['Medium28', 'firstRowStripe', 'theme="9" tint="0.6"'],
  ['Dark11', 'headerRow', 'theme="9"'],
  ['Dark7', 'totalRow', 'theme="9" tint="-0.5"'],
])('fills %s in Excel’s color', (style, element, fill) => {
  expect(builtInStyle(`TableStyle${style}`)?.[element]?.fill).toBe(fill);
});
