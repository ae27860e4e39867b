import { crc32, deflateRawSync } from 'node:zlib';

export interface Part {
  readonly name: string;
  readonly content: Buffer | string;
}

/**
 * Writes a ZIP archive by hand, so that it can be invalid. `claim` is the uncompressed size in its headers, and `date` is in the
 * format of MS-DOS.
 */
export function makeArchive(
  parts: readonly Part[],
  { claim, date = 0 }: { claim?: number | undefined; date?: number | undefined } = {},
): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, content } of parts) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes, { level: 9 });
    const facts = Buffer.alloc(20);
    facts.writeUInt16LE(8, 2);
    facts.writeUInt16LE(date, 6);
    facts.writeUInt32LE(crc32(bytes), 8);
    facts.writeUInt32LE(packed.length, 12);
    facts.writeUInt32LE(claim ?? bytes.length, 16);
    const named = Buffer.from(name);
    const lengths = Buffer.alloc(4);
    lengths.writeUInt16LE(named.length);
    const local = Buffer.concat([Buffer.from('PK\x03\x04\x14\x00', 'latin1'), facts, lengths, named, packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    central.push(
      Buffer.concat([Buffer.from('PK\x01\x02\x14\x00\x14\x00', 'latin1'), facts, lengths, place, named]),
    );
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';
const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** A docx of one paragraph, with additional body, relationships and parts. */
export function makeDocx({
  body = '',
  relationships = '',
  more = [] as readonly Part[],
  date = 0,
} = {}): Buffer {
  const xml = '<?xml version="1.0" encoding="UTF-8"?>';
  const packaged = 'http://schemas.openxmlformats.org/package/2006';
  return makeArchive(
    [
      {
        name: '[Content_Types].xml',
        content:
          `${xml}<Types xmlns="${packaged}/content-types"><Default Extension="xml" ContentType="application/xml"/>` +
          '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
          '<Default Extension="png" ContentType="image/png"/>' +
          `<Override PartName="/word/document.xml" ContentType="${WORD}"/></Types>`,
      },
      {
        name: '_rels/.rels',
        content: `${xml}<Relationships xmlns="${packaged}/relationships"><Relationship Id="r1" Type="${RELATIONSHIPS}/officeDocument" Target="word/document.xml"/></Relationships>`,
      },
      {
        name: 'word/_rels/document.xml.rels',
        content: `${xml}<Relationships xmlns="${packaged}/relationships">${relationships}</Relationships>`,
      },
      {
        name: 'word/document.xml',
        content:
          `${xml}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="${RELATIONSHIPS}"` +
          ' xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"' +
          ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"' +
          ' xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"' +
          ' xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office">' +
          `<w:body><w:p><w:r><w:t>Ein Absatz</w:t></w:r></w:p>${body}</w:body></w:document>`,
      },
      ...more,
    ],
    { date },
  );
}

const SHEETS = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const SHEET = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** An xlsx of one sheet with the given rows, and with what follows them in the sheet. */
export function makeXlsx(rows: string, { formats = [0] as readonly number[], more = '' } = {}): Buffer {
  const xml = '<?xml version="1.0" encoding="UTF-8"?>';
  const packaged = 'http://schemas.openxmlformats.org/package/2006';
  const relationships = (...targets: ReadonlyArray<readonly [type: string, target: string]>) => {
    const all = targets.map(
      ([type, target], index) =>
        `<Relationship Id="r${index + 1}" Type="${RELATIONSHIPS}/${type}" Target="${target}"/>`,
    );
    return `${xml}<Relationships xmlns="${packaged}/relationships">${all.join('')}</Relationships>`;
  };
  const styles = formats.map((id) => `<xf numFmtId="${id}" applyNumberFormat="1"/>`).join('');
  return makeArchive([
    {
      name: '[Content_Types].xml',
      content:
        `${xml}<Types xmlns="${packaged}/content-types"><Default Extension="xml" ContentType="application/xml"/>` +
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
        `<Override PartName="/xl/workbook.xml" ContentType="${SHEET}.sheet.main+xml"/>` +
        `<Override PartName="/xl/styles.xml" ContentType="${SHEET}.styles+xml"/>` +
        `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${SHEET}.worksheet+xml"/></Types>`,
    },
    { name: '_rels/.rels', content: relationships(['officeDocument', 'xl/workbook.xml']) },
    {
      name: 'xl/workbook.xml',
      content: `${xml}<workbook xmlns="${SHEETS}" xmlns:r="${RELATIONSHIPS}"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: relationships(['worksheet', 'worksheets/sheet1.xml'], ['styles', 'styles.xml']),
    },
    {
      name: 'xl/styles.xml',
      content: `${xml}<styleSheet xmlns="${SHEETS}"><cellXfs count="${formats.length}">${styles}</cellXfs></styleSheet>`,
    },
    {
      name: 'xl/worksheets/sheet1.xml',
      content: `${xml}<worksheet xmlns="${SHEETS}"><sheetData>${rows}</sheetData>${more}</worksheet>`,
    },
  ]);
}

/** An image of one inch, referenced by the given relationship attribute. */
export const drawing = (reference: string) =>
  '<w:p><w:r><w:drawing><wp:inline><wp:extent cx="914400" cy="914400"/><wp:docPr id="1" name="p"/><a:graphic>' +
  '<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr>' +
  '<pic:cNvPr id="1" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill>' +
  `<a:blip ${reference}/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/>` +
  '<a:ext cx="914400" cy="914400"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic>' +
  '</a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>';
