import { toAscii } from '../../../../shared/quote.ts';
import { boxOf } from '../draw.ts';
import {
  type Dictionary,
  type Graph,
  isDictionary,
  isReference,
  nameTree,
  type ReadStream,
  textOf,
  type Value,
} from '../graph.ts';
import type { Invoice, Level } from './metadata.ts';

/** Maximum depth of values within each other. */
const MAX_NESTING = 200;

const INVOICES = ['factur-x.xml', 'zugferd-invoice.xml', 'xrechnung.xml'];

/** Actions that PDF/A allows. */
const ACTIONS = ['/GoTo', '/GoToR', '/Thread', '/URI', '/Named', '/SubmitForm'];
const NAMED_ACTIONS = ['/NextPage', '/PrevPage', '/FirstPage', '/LastPage'];
const ANNOTATIONS =
  'Text Link FreeText Line Square Circle Highlight Underline Squiggly StrikeOut Stamp Ink Popup Widget PrinterMark TrapNet'.split(
    ' ',
  );
/** Annotations that parts 2 and 3 allow, too. */
const NEWER_ANNOTATIONS = ['Polygon', 'PolyLine', 'Caret', 'Redact', 'Watermark'];
const BLEND_MODES = (
  'Normal Compatible Multiply Screen Overlay Darken Lighten ColorDodge ColorBurn HardLight SoftLight Difference ' +
  'Exclusion Hue Saturation Color Luminosity'
).split(' ');
/** Bits of the flags of an annotation. */
const [INVISIBLE, HIDDEN, PRINT, NO_VIEW, TOGGLE_NO_VIEW] = [1, 2, 4, 32, 256] as const;

/**
 * Does what only PDF/A requires, and adds what it cannot do to `obstacles` and what it removes to `warnings`. Returns the
 * invoice among the attached files.
 */
export function mendArchive(
  graph: Graph,
  read: ReadStream,
  part: Level['part'],
  { obstacles, warnings }: { readonly obstacles: Set<string>; readonly warnings: Set<string> },
): Invoice | undefined {
  const isOld = part === 1;
  mendCatalog();
  for (const { ref, dict } of graph.pages) mendPage(ref, dict);
  for (const [ref, , isStream] of [...graph.entries()]) mendObject(ref, isStream);
  checkColors();
  const profile = graph.addStream({ '/N': 3 }, srgbProfile());
  const intent = graph.add({
    '/Type': '/OutputIntent',
    '/S': '/GTS_PDFA1',
    '/OutputConditionIdentifier': 'u:sRGB IEC61966-2.1',
    '/Info': 'u:sRGB IEC61966-2.1',
    '/DestOutputProfile': profile,
  });
  graph.merge(graph.rootRef, { '/OutputIntents': [intent] });
  return mendFiles();

  function mendCatalog(): void {
    const { root } = graph;
    const names = Object.entries(graph.dict(root['/Names'])).filter(
      ([name]) => !['/JavaScript', '/AlternatePresentations', '/Renditions'].includes(name),
    );
    if (graph.dict(root['/Names'])['/JavaScript'] !== undefined) warnings.add(SCRIPTS);
    graph.merge(graph.rootRef, {
      '/Names': names.length > 0 ? Object.fromEntries(names) : null,
      '/Perms': null,
      '/Requirements': null,
      '/NeedsRendering': null,
      '/Version': null,
    });
    const form = graph.dict(root['/AcroForm']);
    if (form['/XFA'] !== undefined || form['/NeedAppearances'] !== undefined) {
      const kept = Object.entries(form).filter(([name]) => !['/XFA', '/NeedAppearances'].includes(name));
      graph.merge(graph.rootRef, { '/AcroForm': Object.fromEntries(kept) });
    }
    mendLayers();
  }

  function mendLayers(): void {
    const properties = graph.dict(graph.root['/OCProperties']);
    if (Object.keys(properties).length === 0) return;
    if (isOld) {
      obstacles.add('The document has layers, which PDF/A-1 does not allow.');
      return;
    }
    const all = graph.list(properties['/OCGs']);
    const { '/AS': _, ...config } = graph.dict(properties['/D']);
    const listed = JSON.stringify(config['/Order'] ?? []);
    const isComplete = all.every((group) => listed.includes(JSON.stringify(group)));
    const shown = {
      ...config,
      '/Name': config['/Name'] ?? 'u:Default',
      ...(!isComplete && { '/Order': all }),
    };
    graph.merge(graph.rootRef, { '/OCProperties': { '/OCGs': all, '/D': shown } });
    for (const group of all) {
      if (isReference(group) && textOf(graph.get(graph.dict(group)['/Name'])) === undefined)
        graph.merge(group, { '/Name': 'u:Layer' });
    }
  }

  /** Checks a page, makes its annotations printable, and removes those that are hidden. */
  function mendPage(page: string, dict: Dictionary): void {
    const media = boxOf(graph, dict['/MediaBox']) ?? [0, 0, 612, 792];
    const sides = [media[2] - media[0], media[3] - media[1]];
    if (sides.some((side) => side < 3 || side > 14_400))
      obstacles.add('A page is smaller than 3 points or larger than 14,400.');
    if (dict['/Resources'] === undefined) graph.merge(page, { '/Resources': {} });
    const annotations = graph.list(dict['/Annots']);
    if (annotations.length === 0) return;
    const kept = annotations.flatMap((each) => {
      const annotation = graph.dict(each);
      const kind = String(graph.get(annotation['/Subtype'])).slice(1);
      if (kind === 'Popup') return [each];
      const flags = graph.number(annotation['/F']);
      if (flags & (INVISIBLE | HIDDEN | NO_VIEW)) {
        warnings.add('Hidden annotations were removed.');
        return [];
      }
      if (!ANNOTATIONS.includes(kind) && (isOld || !NEWER_ANNOTATIONS.includes(kind)))
        obstacles.add(`The document has an annotation of type ${toAscii(kind)}.`);
      const mended: Dictionary = {
        ...annotation,
        '/F': (flags | PRINT) & ~TOGGLE_NO_VIEW,
        ...mendAppearance(annotation, kind),
      };
      if (isOld && graph.number(annotation['/CA'], 1) !== 1) obstacles.add(TRANSPARENT);
      if (!isReference(each)) return [mended];
      graph.merge(each, mended);
      return [each];
    });
    graph.merge(page, { '/Annots': kept });
  }

  /** Returns the appearance of an annotation with its normal state only. */
  function mendAppearance(annotation: Dictionary, kind: string): Dictionary {
    const normal = graph.dict(annotation['/AP'])['/N'];
    const [left = 0, bottom = 0, right = 0, top = 0] = graph
      .list(annotation['/Rect'])
      .map((side) => graph.number(side));
    const isEmpty = left === right && bottom === top;
    if (normal === undefined) {
      if (kind !== 'Link' && !isEmpty) obstacles.add(withoutAppearance(kind));
      return {};
    }
    const { '/FT': type = graph.dict(annotation['/Parent'])['/FT'] } = annotation;
    const isButton = kind === 'Widget' && graph.get(type ?? null) === '/Btn';
    if (graph.isStream(normal) || isButton) return { '/AP': { '/N': normal } };
    const state = graph.get(annotation['/AS']);
    const shown = typeof state === 'string' ? graph.dict(normal)[state] : undefined;
    if (shown === undefined) obstacles.add(withoutAppearance(kind));
    return shown === undefined ? {} : { '/AP': { '/N': shown } };
  }

  function mendObject(ref: string, isStream: boolean): void {
    const value = graph.get(ref);
    const mended = mendValue(value, 0);
    if (isDictionary(mended) && isStream) checkStream(mended);
    if (mended === value) return;
    if (!isDictionary(mended)) graph.set(ref, mended);
    else {
      const removed = Object.keys(value as Dictionary).filter((name) => mended[name] === undefined);
      graph.merge(ref, { ...mended, ...Object.fromEntries(removed.map((name) => [name, null])) });
    }
  }

  /** Returns a value with what PDF/A allows only. The same one if nothing changes. */
  function mendValue(value: Value, depth: number): Value {
    if (depth > MAX_NESTING) {
      obstacles.add('The document nests values too deeply.');
      return null;
    }
    checkLimits(value);
    if (Array.isArray(value)) {
      const list = value as readonly Value[];
      const mended = list.map((each) => mendValue(each, depth + 1));
      return mended.every((each, index) => each === list[index]) ? value : mended;
    }
    if (!isDictionary(value)) return value;
    checkDictionary(value);
    const entries = Object.entries(value);
    const mended = entries.flatMap(([name, each]): Array<readonly [string, Value]> => {
      if (Buffer.byteLength(name) > 128) obstacles.add('A name is longer than 127 bytes.');
      if (isForbidden(name, each, value)) return [];
      return [[name, mendValue(each, depth + 1)]];
    });
    const isSame =
      mended.length === entries.length && mended.every(([, each], index) => each === entries[index]![1]);
    // Some programs omit the type, which PDF/A requires.
    if (value['/FontName'] !== undefined && value['/Flags'] !== undefined && value['/Type'] === undefined)
      return { ...Object.fromEntries(mended), '/Type': '/FontDescriptor' };
    return isSame ? value : Object.fromEntries(mended);
  }

  /** Whether an entry of a dictionary must be removed. */
  function isForbidden(name: string, value: Value, dict: Dictionary): boolean {
    switch (name) {
      case '/AA':
        warnings.add(SCRIPTS);
        return true;
      case '/Group':
        // Without transparent parts, a group changes nothing.
        return isOld && graph.dict(value)['/S'] === '/Transparency';
      case '/A':
      case '/OpenAction':
      case '/Next': {
        const action = graph.get(value);
        if (!isDictionary(action)) return false;
        const kind = graph.get(action['/S']);
        if (typeof kind !== 'string') return false;
        const isAllowed =
          dict['/Subtype'] !== '/Widget' &&
          (ACTIONS.includes(kind) || (kind === '/GoToE' && !isOld)) &&
          (kind !== '/Named' || NAMED_ACTIONS.includes(String(graph.get(action['/N']))));
        if (!isAllowed) warnings.add(SCRIPTS);
        return !isAllowed;
      }
      case '/Metadata':
        // The document gets new metadata. Others would have to follow the rules for XMP, too.
        return true;
      case '/Interpolate':
        return graph.get(value) === true;
      case '/Alternates':
      case '/OPI':
      case '/PresSteps':
        return true;
      case '/TR':
      case '/HTP':
        return dict['/Type'] === '/ExtGState' || dict['/SA'] !== undefined;
      case '/TR2':
        return graph.get(value) !== '/Default';
      default:
        return false;
    }
  }

  function checkDictionary(dict: Dictionary): void {
    if (dict['/PS'] !== undefined && dict['/Subtype'] === '/Form')
      obstacles.add('The document contains PostScript.');
    if (dict['/Subtype'] === '/PS' || dict['/Subtype2'] === '/PS')
      obstacles.add('The document contains PostScript.');
    if (dict['/HalftoneType'] !== undefined && ![1, 5].includes(graph.number(dict['/HalftoneType'])))
      obstacles.add('The document has a halftone of its own.');
    if (dict['/HalftoneName'] !== undefined) obstacles.add('The document has a halftone of its own.');
    if (dict['/OPM'] === 1 && (graph.get(dict['/OP']) === true || graph.get(dict['/op']) === true))
      obstacles.add('The document overprints colors.');
    const modes = [graph.get(dict['/BM'])].flat().filter((mode): mode is string => typeof mode === 'string');
    if (!isOld) {
      if (modes.some((mode) => !BLEND_MODES.includes(mode.slice(1))))
        obstacles.add('The document blends colors in a way that is not defined.');
      return;
    }
    const mask = graph.get(dict['/SMask']);
    const isTransparent =
      (mask !== null && mask !== '/None') ||
      [dict['/ca'], dict['/CA']].some((alpha) => alpha !== undefined && graph.number(alpha, 1) !== 1) ||
      modes.some((mode) => mode !== '/Normal' && mode !== '/Compatible') ||
      dict['/SMaskInData'] !== undefined;
    if (isTransparent) obstacles.add(TRANSPARENT);
  }

  function checkStream(dict: Dictionary): void {
    if (dict['/F'] !== undefined || dict['/FFilter'] !== undefined)
      obstacles.add('The data of a stream are in another file.');
    const filters = [graph.get(dict['/Filter'])].flat();
    if (filters.includes('/JPXDecode'))
      obstacles.add(
        isOld
          ? 'An image is JPEG 2000, which PDF/A-1 does not allow.'
          : 'An image is JPEG 2000, whose colors cannot be verified.',
      );
    if (filters.includes('/Crypt')) obstacles.add('A stream is encrypted.');
  }

  function checkLimits(value: Value): void {
    if (typeof value === 'number') {
      const isInteger = Number.isInteger(value);
      if (Math.abs(value) > (isInteger || !isOld ? 2_147_483_647 : 32_767))
        obstacles.add('A number is too large.');
    } else if (typeof value === 'string') {
      const bytes = value.startsWith('b:') ? value.length / 2 : value.startsWith('u:') ? value.length * 2 : 0;
      if (bytes > (isOld ? 65_535 : 32_767)) obstacles.add('A text is too long.');
    } else if (isOld && Array.isArray(value) && value.length > 8191) obstacles.add('A list is too long.');
    else if (isOld && isDictionary(value) && Object.keys(value).length > 4095)
      obstacles.add('A dictionary is too long.');
  }

  /** Checks color spaces and their profiles. CMYK without a profile has no meaning beside the profile of sRGB. */
  function checkColors(): void {
    const check = (value: Value, depth: number): void => {
      if (value === '/DeviceCMYK') obstacles.add(CMYK);
      if (depth > MAX_NESTING || typeof value !== 'object' || value === null) return;
      const list = Array.isArray(value) ? (value as readonly Value[]) : Object.values(value);
      if (list[0] === '/ICCBased') checkProfile(list[1]);
      if (list[0] === '/DeviceN' && graph.list(list[1]).length > (isOld ? 8 : 32))
        obstacles.add('A color has too many components.');
      for (const each of list) check(each, depth + 1);
    };
    for (const [, value] of graph.entries()) check(value, 0);
  }

  function checkProfile(ref: Value | undefined): void {
    const bytes = read(ref);
    const channels = graph.number(graph.dict(ref)['/N']);
    const names: Readonly<Record<number, readonly string[]>> = {
      1: ['GRAY'],
      3: ['RGB ', 'Lab '],
      4: ['CMYK'],
    };
    const isValid =
      bytes !== undefined &&
      bytes.length > 128 &&
      bytes.readUInt8(8) <= (isOld ? 2 : 4) &&
      ['scnr', 'mntr', 'prtr', 'spac'].includes(bytes.toString('latin1', 12, 16)) &&
      (names[channels]?.includes(bytes.toString('latin1', 16, 20)) ?? false);
    if (!isValid)
      obstacles.add(`A color profile is damaged${isOld ? ', or newer than PDF/A-1 allows' : ''}.`);
  }

  /** Describes attached files as part 3 requires, and removes them for the others. Returns the invoice among them. */
  function mendFiles(): Invoice | undefined {
    const files = filesOf(graph);
    if (files.length === 0) return undefined;
    if (part !== 3) {
      warnings.add('Attached files were removed. PDF/A-3 allows them.');
      const { '/EmbeddedFiles': _, ...names } = graph.dict(graph.root['/Names']);
      graph.merge(graph.rootRef, { '/AF': null, '/Names': names });
      return undefined;
    }
    let invoice: Invoice | undefined;
    for (const { ref, stream, name, isInvoice } of files) {
      const profile = isInvoice ? profileOf(read(stream)?.toString('utf8') ?? '') : undefined;
      if (isInvoice && profile === undefined)
        obstacles.add(`The file ${toAscii(name)} names no profile of Factur-X.`);
      if (profile !== undefined) invoice ??= { fileName: name, profile };
      const relation = isInvoice
        ? ['MINIMUM', 'BASIC WL'].includes(profile ?? '')
          ? '/Data'
          : '/Alternative'
        : (graph.get(graph.dict(ref)['/AFRelationship']) ?? '/Unspecified');
      const { '/EF': embedded, '/F': file, '/UF': unicode } = graph.dict(ref);
      const own = graph.dict(stream);
      if (!isReference(ref) || Object.keys(graph.dict(embedded)).length === 0) {
        obstacles.add(`The attached file ${toAscii(name)} is damaged.`);
        continue;
      }
      const known = file ?? unicode ?? `u:${name}`;
      graph.merge(ref, { '/AFRelationship': relation, '/F': known, '/UF': unicode ?? known });
      const type = isInvoice ? '/text/xml' : (own['/Subtype'] ?? '/application/octet-stream');
      const params = graph.dict(own['/Params']);
      const date = params['/ModDate'] ?? params['/CreationDate'] ?? 'u:D:20000101000000Z';
      graph.merge(stream, { '/Subtype': type, '/Params': { ...params, '/ModDate': date } });
    }
    graph.merge(graph.rootRef, { '/AF': files.map(({ ref }) => ref) });
    return invoice;
  }
}

const SCRIPTS = 'Scripts and actions that PDF/A does not allow were removed.';
const TRANSPARENT = 'The document has transparent parts, which PDF/A-1 does not allow.';
export const CMYK = 'Colors are CMYK without a profile.';

interface AttachedFile {
  readonly ref: Value;
  readonly stream: string;
  readonly name: string;
  readonly isInvoice: boolean;
}

export function filesOf(graph: Graph): AttachedFile[] {
  const tree = graph.dict(graph.root['/Names'])['/EmbeddedFiles'];
  return [...nameTree(graph, tree)].map(([key, ref]) => {
    const file = graph.dict(ref);
    const embedded = graph.dict(file['/EF']);
    const stream = embedded['/F'] ?? embedded['/UF'];
    const name = textOf(graph.get(file['/UF'])) ?? textOf(graph.get(file['/F'])) ?? textOf(key) ?? '';
    return {
      ref,
      stream: isReference(stream) ? stream : '',
      name,
      isInvoice: INVOICES.includes(name.toLowerCase()),
    };
  });
}

/** Returns the profile that an invoice follows, as Factur-X names it, from the identifier of its guideline. */
function profileOf(xml: string): string | undefined {
  const found =
    /GuidelineSpecifiedDocumentContextParameter>\s*<(?:\w+:)?ID>\s*([^<]{1,200}?)\s*</.exec(xml)?.[1] ?? '';
  if (/xrechnung/i.test(found)) return 'XRECHNUNG';
  const name = /:(minimum|basicwl|basic|extended)$/i.exec(found)?.[1]?.toUpperCase();
  if (name !== undefined) return name === 'BASICWL' ? 'BASIC WL' : name;
  return /^urn:cen\.eu:en16931:2017/.test(found) ? 'EN 16931' : undefined;
}

/** Only the appearances of fields can be made. */
function withoutAppearance(kind: string): string {
  const advice = kind === 'Widget' ? ' Add -flatten.' : '';
  return `An annotation of type ${toAscii(kind)} has no appearance.${advice}`;
}

/** The curve of sRGB (IEC 61966-2-1) has this number of steps in the profile. */
const STEPS = 1024;
/** White and the primaries of sRGB, adapted to the white of D50 as profiles require. */
const COLORANTS = {
  wtpt: [0.9642, 1, 0.82491],
  rXYZ: [0.43607, 0.22249, 0.01392],
  gXYZ: [0.38515, 0.71687, 0.09708],
  bXYZ: [0.14307, 0.06061, 0.7141],
} as const;

/** Returns an ICC profile of version 2 that describes sRGB. */
function srgbProfile(): Buffer {
  const curve = tag('curv', 4 + STEPS * 2);
  curve.writeUInt32BE(STEPS, 8);
  for (let step = 0; step < STEPS; step += 1) {
    const value = step / (STEPS - 1);
    const linear = value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    curve.writeUInt16BE(Math.round(linear * 65_535), 12 + step * 2);
  }
  const name = Buffer.from('sRGB IEC61966-2.1\0', 'latin1');
  // The name in ASCII, and empty ones in Unicode and for old Macintosh systems.
  const description = tag('desc', 4 + name.length + 8 + 3 + 67);
  description.writeUInt32BE(name.length, 8);
  name.copy(description, 12);
  const copyright = tag('text', 15);
  copyright.write('Public domain', 8, 'latin1');
  const points = Object.entries(COLORANTS).map(([key, values]) => {
    const point = tag('XYZ ', 12);
    for (const [index, value] of values.entries())
      point.writeInt32BE(Math.round(value * 65_536), 8 + index * 4);
    return [key, point] as const;
  });
  return assemble([['desc', description], ['cprt', copyright], ...points], curve);
}

function tag(type: string, bytes: number): Buffer {
  const data = Buffer.alloc(8 + Math.ceil(bytes / 4) * 4);
  data.write(type, 0, 'latin1');
  return data;
}

function assemble(tags: ReadonlyArray<readonly [key: string, data: Buffer]>, curve: Buffer): Buffer {
  const curves = ['rTRC', 'gTRC', 'bTRC'];
  const table = Buffer.alloc(4 + 12 * (tags.length + curves.length));
  table.writeUInt32BE(tags.length + curves.length, 0);
  let position = 128 + table.length;
  const entry = (index: number, key: string, data: Buffer) => {
    table.write(key, 4 + index * 12, 'latin1');
    table.writeUInt32BE(position, 8 + index * 12);
    table.writeUInt32BE(data.length, 12 + index * 12);
  };
  for (const [index, [key, data]] of tags.entries()) {
    entry(index, key, data);
    position += data.length;
  }
  for (const [index, key] of curves.entries()) entry(tags.length + index, key, curve);
  const header = Buffer.alloc(128);
  header.writeUInt32BE(position + curve.length, 0);
  header.writeUInt32BE(0x02_10_00_00, 8);
  header.write('mntrRGB XYZ ', 12, 'latin1');
  for (const [index, value] of [2026, 1, 1].entries()) header.writeUInt16BE(value, 24 + index * 2);
  header.write('acsp', 36, 'latin1');
  for (const [index, value] of COLORANTS.wtpt.entries())
    header.writeInt32BE(Math.round(value * 65_536), 68 + index * 4);
  return Buffer.concat([header, table, ...tags.map(([, data]) => data), curve]);
}
