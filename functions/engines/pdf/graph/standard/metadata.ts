import type { Standard } from '../../finish-options.ts';

/** The requirements of a standard. */
export interface Level {
  /** The part of ISO 19005. 0 if the document is not for archives. */
  readonly part: 0 | 1 | 2 | 3 | 4;
  /** Whether all text must be readable as Unicode. */
  readonly isUnicode: boolean;
  /** Whether screen readers must be able to read the document. */
  readonly isAccessible: boolean;
}

export function levelOf(standard: Standard): Level {
  const isAccessible = standard === 'PDF/UA-1';
  const part = isAccessible ? 0 : (Number(standard[6]) as Level['part']);
  return { part, isUnicode: isAccessible || standard.endsWith('u'), isAccessible };
}

/** The entries of the document information that have a counterpart in XMP. */
interface Properties {
  readonly title?: string | undefined;
  readonly author?: string | undefined;
  readonly subject?: string | undefined;
  readonly keywords?: string | undefined;
  readonly creator?: string | undefined;
  readonly producer?: string | undefined;
  /** As in XMP: `2026-01-31T12:00:00Z`. */
  readonly created?: string | undefined;
  readonly modified?: string | undefined;
}

/** An invoice that is attached to a document, as Factur-X and ZUGFeRD define it. */
export interface Invoice {
  readonly fileName: string;
  /** Such as `EN 16931`. */
  readonly profile: string;
}

/** Writes the metadata of a document (ISO 16684-1) with the standard that it follows. */
export function xmpOf(
  properties: Properties,
  { part, isUnicode, isAccessible }: Level,
  invoice: Invoice | undefined,
): string {
  const { title, author, subject, keywords, creator, producer, created, modified } = properties;
  const plain = (name: string, value: string | undefined) =>
    value === undefined ? '' : `<${name}>${escapeXml(value)}</${name}>\n`;
  const inside = (name: string, kind: 'Alt' | 'Seq', value: string | undefined) => {
    if (value === undefined) return '';
    const language = kind === 'Alt' ? ' xml:lang="x-default"' : '';
    return `<${name}><rdf:${kind}><rdf:li${language}>${escapeXml(value)}</rdf:li></rdf:${kind}></${name}>\n`;
  };
  const level = part === 4 ? plain('pdfaid:rev', '2020') : plain('pdfaid:conformance', isUnicode ? 'U' : 'B');
  return `<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
${part > 0 ? claimOf('pdfaid', 'pdfa', `<pdfaid:part>${part}</pdfaid:part>\n${level}`) : ''}${isAccessible ? claimOf('pdfuaid', 'pdfua', '<pdfuaid:part>1</pdfuaid:part>') : ''}<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:format>application/pdf</dc:format>
${inside('dc:title', 'Alt', title)}${inside('dc:creator', 'Seq', author)}${inside('dc:description', 'Alt', subject)}</rdf:Description>
<rdf:Description rdf:about="" xmlns:pdf="http://ns.adobe.com/pdf/1.3/">
${plain('pdf:Keywords', keywords)}${plain('pdf:Producer', producer)}</rdf:Description>
<rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/">
${plain('xmp:CreatorTool', creator)}${plain('xmp:CreateDate', created)}${plain('xmp:ModifyDate', modified)}</rdf:Description>
${invoice ? invoiceOf(invoice) : ''}</rdf:RDF>
</x:xmpmeta>
<?xpacket end="w"?>`;
}

function claimOf(prefix: string, standard: string, properties: string): string {
  const namespace = `http://www.aiim.org/${standard}/ns/id/`;
  return `<rdf:Description rdf:about="" xmlns:${prefix}="${namespace}">\n${properties}\n</rdf:Description>\n`;
}

const SCHEMA = 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#';

/** The properties of an invoice, and their description, which PDF/A requires for all but its own. */
function invoiceOf({ fileName, profile }: Invoice): string {
  const property = (name: string, description: string) =>
    `<rdf:li rdf:parseType="Resource"><pdfaProperty:name>${name}</pdfaProperty:name><pdfaProperty:valueType>Text</pdfaProperty:valueType><pdfaProperty:category>external</pdfaProperty:category><pdfaProperty:description>${description}</pdfaProperty:description></rdf:li>`;
  return `<rdf:Description rdf:about="" xmlns:fx="${SCHEMA}">
<fx:DocumentType>INVOICE</fx:DocumentType>
<fx:DocumentFileName>${escapeXml(fileName)}</fx:DocumentFileName>
<fx:Version>1.0</fx:Version>
<fx:ConformanceLevel>${escapeXml(profile)}</fx:ConformanceLevel>
</rdf:Description>
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
<pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>
<pdfaSchema:namespaceURI>${SCHEMA}</pdfaSchema:namespaceURI>
<pdfaSchema:prefix>fx</pdfaSchema:prefix>
<pdfaSchema:property><rdf:Seq>
${property('DocumentFileName', 'The name of the embedded XML document')}
${property('DocumentType', 'The type of the hybrid document in capital letters, such as INVOICE')}
${property('Version', 'The version of the standard that the XML document follows')}
${property('ConformanceLevel', 'The profile that the XML document follows')}
</rdf:Seq></pdfaSchema:property>
</rdf:li></rdf:Bag></pdfaExtension:schemas>
</rdf:Description>
`;
}

/** Escapes markup, and drops characters that XML cannot contain. */
function escapeXml(value: string): string {
  return value
    .toWellFormed()
    .replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Reads a date of PDF, `D:20260131120000+01'00'`, as XMP writes it. */
export function xmpDate(value: string | undefined): string | undefined {
  const match =
    /^D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)(?:00'?(?:00'?)?)?|([+-])(\d\d)'?(?:(\d\d)'?)?)?$/.exec(
      value ?? '',
    );
  if (!match) return undefined;
  const [
    ,
    year,
    month = '01',
    day = '01',
    hour = '00',
    minute = '00',
    second = '00',
    ,
    sign,
    hours,
    minutes,
  ] = match;
  const zone = sign ? `${sign}${hours}:${minutes ?? '00'}` : '+00:00';
  const date = `${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`;
  return Number.isNaN(Date.parse(date)) ? undefined : date;
}

/** Writes a date of XMP as PDF does, with its time zone. */
export function pdfDate(date: string): string {
  return `u:D:${date.slice(0, 19).replace(/\D/g, '')}${date.slice(19).replace(':', "'")}'`;
}
