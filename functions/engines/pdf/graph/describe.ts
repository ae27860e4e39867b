import { displayed } from './draw.ts';
import { fieldsOf } from './fill.ts';
import { type Dictionary, type Graph, isReference, textOf, type Value } from './graph.ts';
import { fileEntries, Navigation, type OutlineItem } from './merge.ts';

/** Facts that are not in the objects of a document. */
export interface FileFacts {
  readonly bytes: number;
  /** Pages to list, from 1. All if absent. */
  readonly pages?: readonly number[] | undefined;
  readonly version: string;
  readonly isLinearized: boolean;
  readonly encryption: Readonly<Record<string, unknown>> | null;
  /** The standards that the document claims to follow, such as `PDF/A-2b`. */
  readonly claims: readonly string[];
}

/** Maximum number of items of each list. */
const MAX_ITEMS = 20_000;
/** Maximum number of objects that are searched for fonts and images. */
const MAX_VISITS = 500_000;

/** Describes a document; see `description.schema.json`. */
export function describeDocument(graph: Graph, { pages: listed, ...file }: FileFacts): object {
  const { root, trailer, pages } = graph;
  const labels = labelsOf(graph, pages.length);
  const { fonts, images } = resourcesOf(graph);
  const navigation = new Navigation(graph);
  const pageOf = new Map(pages.map(({ ref }, index) => [ref, index + 1]));
  const shown = new Set(listed ?? pages.map((_, index) => index + 1));
  const language = textOf(graph.get(root['/Lang']));
  return {
    ...file,
    pageCount: pages.length,
    pages: pages.flatMap((page, index) => {
      if (!shown.has(index + 1)) return [];
      const { width, height } = displayed(graph, page);
      const rotation = ((graph.number(page.dict['/Rotate']) % 360) + 360) % 360;
      const label = labels?.[index];
      return [
        {
          number: index + 1,
          width: round(width),
          height: round(height),
          rotation,
          ...(label !== undefined && { label }),
        },
      ];
    }),
    information: informationOf(graph, trailer['/Info']),
    ...(language !== undefined && { language }),
    isTagged: graph.get(graph.dict(root['/MarkInfo'])['/Marked']) === true,
    outline: navigation.outline().map(outlineOf),
    fonts,
    images,
    fields: [...fieldsOf(graph).values()].slice(0, MAX_ITEMS).map((field) => fieldOf(graph, field, pageOf)),
    signatures: signaturesOf(graph, file.bytes),
    attachments: attachmentsOf(graph),
  };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function outlineOf({ title, target, children }: OutlineItem): object {
  return {
    title: textOf(title) ?? '',
    ...(target && { page: target.page + 1 }),
    children: children.map(outlineOf),
  };
}

function informationOf(graph: Graph, value: Value | undefined): object {
  const entries = Object.entries(graph.dict(value)).flatMap(([name, each]) => {
    const text = textOf(graph.get(each));
    return text === undefined ? [] : [[name.slice(1), text] as const];
  });
  return Object.fromEntries(entries);
}

/** Returns the label of each page, or `undefined` if the document has none. */
function labelsOf(graph: Graph, pageCount: number): string[] | undefined {
  const ranges: Array<readonly [first: number, label: Dictionary]> = [];
  const open: Value[] = [graph.root['/PageLabels'] ?? null];
  for (
    let node = open.pop(), visits = 0;
    node !== undefined && visits < 1000;
    node = open.pop(), visits += 1
  ) {
    const { '/Nums': numbers, '/Kids': kids } = graph.dict(node);
    const pairs = graph.list(numbers);
    for (let at = 0; at + 1 < pairs.length; at += 2)
      ranges.push([graph.number(pairs[at]), graph.dict(pairs[at + 1])]);
    open.push(...graph.list(kids));
  }
  if (ranges.length === 0) return undefined;
  ranges.sort(([one], [other]) => one - other);
  const labels: string[] = [];
  for (let index = 0, at = -1; index < pageCount; index += 1) {
    while (ranges[at + 1] && ranges[at + 1]![0] <= index) at += 1;
    const [first, label] = ranges[at] ?? [0, {}];
    const number = graph.number(label['/St'], 1) + index - first;
    labels.push(`${textOf(graph.get(label['/P'])) ?? ''}${numeral(number, graph.get(label['/S']))}`);
  }
  return labels;
}

const ROMAN = [
  ...([
    [1000, 'm'],
    [900, 'cm'],
    [500, 'd'],
    [400, 'cd'],
    [100, 'c'],
    [90, 'xc'],
    [50, 'l'],
  ] as const),
  ...([
    [40, 'xl'],
    [10, 'x'],
    [9, 'ix'],
    [5, 'v'],
    [4, 'iv'],
    [1, 'i'],
  ] as const),
];

function numeral(number: number, style: Value): string {
  const upper = (text: string) => (style === '/R' || style === '/A' ? text.toUpperCase() : text);
  switch (style) {
    case '/D':
      return String(number);
    case '/R':
    case '/r': {
      let rest = number;
      let text = '';
      for (const [value, digits] of ROMAN)
        for (; rest >= value && text.length < 100; rest -= value) text += digits;
      return upper(text);
    }
    case '/A':
    case '/a': {
      const letter = String.fromCharCode(97 + ((number - 1) % 26));
      return upper(number < 1 ? '' : letter.repeat(Math.min(100, Math.ceil(number / 26))));
    }
    default:
      return '';
  }
}

/** Returns the fonts and images of all pages, each with the pages that use it. */
function resourcesOf(graph: Graph): { fonts: object[]; images: object[] } {
  const fonts = new Map<string, { description: object; pages: number[] }>();
  const images = new Map<string, { description: object; pages: number[] }>();
  let visits = 0;
  const note = (into: typeof fonts, key: string, page: number, describe: () => object) => {
    const known = into.get(key);
    if (known) {
      if (known.pages.at(-1) !== page) known.pages.push(page);
    } else if (into.size < MAX_ITEMS) into.set(key, { description: describe(), pages: [page] });
  };
  for (const [index, page] of graph.pages.entries()) {
    const seen = new Set<string>();
    const appearances = graph
      .list(page.dict['/Annots'])
      .map((each) => graph.dict(graph.dict(each)['/AP'])['/N']);
    const open: Value[] = [page.dict['/Resources'] ?? null];
    for (const appearance of appearances) open.push(graph.dict(appearance)['/Resources'] ?? null);
    for (let each = open.pop(); each !== undefined && visits < MAX_VISITS; each = open.pop()) {
      visits += 1;
      const { '/Font': named, '/XObject': objects, '/Pattern': patterns } = graph.dict(each);
      for (const font of Object.values(graph.dict(named))) {
        const key = isReference(font) ? font : JSON.stringify(font);
        note(fonts, key, index + 1, () => fontOf(graph, graph.dict(font)));
      }
      for (const object of [...Object.values(graph.dict(objects)), ...Object.values(graph.dict(patterns))]) {
        if (!isReference(object) || seen.has(object)) continue;
        seen.add(object);
        const dict = graph.dict(object);
        if (dict['/Subtype'] === '/Image') note(images, object, index + 1, () => imageOf(graph, dict));
        else if (dict['/Resources'] !== undefined) open.push(dict['/Resources']);
      }
    }
  }
  const list = (found: typeof fonts) =>
    [...found.values()].map(({ description, pages }) => ({ ...description, pages }));
  return { fonts: list(fonts), images: list(images) };
}

function fontOf(graph: Graph, font: Dictionary): object {
  const [descendant] = graph.list(font['/DescendantFonts']);
  const real = descendant === undefined ? font : graph.dict(descendant);
  const descriptor = graph.dict(real['/FontDescriptor']);
  const kind = nameIn(graph.get(real['/Subtype']));
  const file = ['/FontFile', '/FontFile2', '/FontFile3'].some((entry) => descriptor[entry] !== undefined);
  const base = nameIn(graph.get(font['/BaseFont']));
  return {
    name: base.replace(/^[A-Z]{6}\+/, ''),
    type: kind,
    isEmbedded: file || kind === 'Type3',
    isSubset: /^[A-Z]{6}\+/.test(base),
    hasUnicode: font['/ToUnicode'] !== undefined,
  };
}

function imageOf(graph: Graph, image: Dictionary): object {
  const space = graph.get(image['/ColorSpace']);
  const [family = null] = Array.isArray(space) ? (space as readonly Value[]) : [space];
  const filter = graph.get(image['/Filter']);
  const filters = Array.isArray(filter) ? (filter as readonly Value[]) : filter === null ? [] : [filter];
  return {
    width: graph.number(image['/Width']),
    height: graph.number(image['/Height']),
    bits: graph.get(image['/ImageMask']) === true ? 1 : graph.number(image['/BitsPerComponent'], 8),
    colorSpace: graph.get(image['/ImageMask']) === true ? 'Mask' : nameIn(graph.get(family)) || 'Unknown',
    filters: filters.map((each) => nameIn(graph.get(each))),
    isTransparent: image['/SMask'] !== undefined || image['/Mask'] !== undefined,
  };
}

function nameIn(value: Value): string {
  return typeof value === 'string' && value.startsWith('/') ? value.slice(1) : '';
}

const KINDS: Readonly<Record<string, string>> = { '/Tx': 'text', '/Ch': 'choice', '/Sig': 'signature' };

function fieldOf(
  graph: Graph,
  { name: full, dict, widgets }: ReturnType<typeof fieldsOf> extends Map<string, infer Field> ? Field : never,
  pageOf: ReadonlyMap<string, number>,
): object {
  const flags = graph.number(dict['/Ff']);
  const button = (flags >>> 16) & 1 ? 'button' : (flags >>> 15) & 1 ? 'radio' : 'checkbox';
  const kind = graph.get(dict['/FT']);
  const options = graph.list(dict['/Opt']).map((option) => {
    const pair = graph.list(option);
    return textOf(graph.get(pair.length === 2 ? pair[0] : option)) ?? '';
  });
  const states = widgets.flatMap((widget) =>
    Object.keys(graph.dict(graph.dict(graph.dict(widget)['/AP'])['/N'])).map((state) => state.slice(1)),
  );
  const value = graph.get(dict['/V']);
  const page = widgets
    .map((widget) => pageOf.get(String(graph.dict(widget)['/P'])))
    .find((found) => found !== undefined);
  return {
    name: full,
    kind: KINDS[String(kind)] ?? button,
    value: kind === '/Sig' ? null : fieldValue(graph, value),
    ...(options.length > 0 && { options: options.slice(0, 1000) }),
    ...(kind === '/Btn' && { options: [...new Set(states)].slice(0, 1000) }),
    isRequired: ((flags >>> 1) & 1) === 1,
    isReadOnly: (flags & 1) === 1,
    ...(page !== undefined && { page }),
  };
}

function fieldValue(graph: Graph, value: Value): unknown {
  if (Array.isArray(value)) return (value as readonly Value[]).map((each) => textOf(graph.get(each)) ?? null);
  return textOf(value) ?? (typeof value === 'string' && value.startsWith('/') ? value.slice(1) : null);
}

/** Describes the signed fields. */
export function signaturesOf(graph: Graph, bytes: number): object[] {
  return [...fieldsOf(graph).values()].flatMap(({ name: field, dict }) => {
    const signature = graph.dict(dict['/V']);
    if (graph.get(dict['/FT']) !== '/Sig' || Object.keys(signature).length === 0) return [];
    const range = graph.list(signature['/ByteRange']).map((each) => graph.number(each));
    const [, , start = 0, length = 0] = range;
    const text = (entry: string) => textOf(graph.get(signature[entry])) ?? null;
    return [
      {
        field,
        signer: text('/Name'),
        reason: text('/Reason'),
        date: text('/M'),
        format: nameIn(graph.get(signature['/SubFilter'])),
        // Whether nothing was added to the file after it was signed. The signature itself is not verified.
        coversWholeFile: range.length === 4 && range[0] === 0 && start + length === bytes,
      },
    ];
  });
}

function attachmentsOf(graph: Graph): object[] {
  const files: object[] = [];
  const seen = new Set<Value>();
  for (const [key, value] of fileEntries(graph)) {
    if (files.length >= MAX_ITEMS) break;
    const file = graph.dict(value);
    const content = graph.dict(file['/EF'])['/F'] ?? graph.dict(file['/EF'])['/UF'] ?? null;
    if (isReference(content) && seen.has(content)) continue;
    seen.add(content);
    const embedded = graph.dict(content);
    const size = graph.get(graph.dict(embedded['/Params'])['/Size']);
    const relationship = nameIn(graph.get(file['/AFRelationship']));
    files.push({
      name: textOf(graph.get(file['/UF'])) ?? textOf(graph.get(file['/F'])) ?? textOf(key) ?? '',
      ...(typeof size === 'number' && { bytes: size }),
      ...(embedded['/Subtype'] !== undefined && { type: nameIn(graph.get(embedded['/Subtype'])) }),
      ...(relationship && { relationship }),
    });
  }
  return files;
}
