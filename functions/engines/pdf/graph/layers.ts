import { drawAnnotations } from './annotations.ts';
import { GLYPH_ORDERS } from './fonts.ts';
import {
  type Dictionary,
  type Graph,
  isDictionary,
  isReference,
  MAX_DEPTH,
  textOf,
  type Value,
} from './graph.ts';
import { toUnicode } from './typesetter.ts';

/** Maximum number of layers that one expression is evaluated for. */
const MAX_OPERANDS = 10_000;
/** The flag of a hidden annotation. */
const HIDDEN = 2;
/** The entry of layers that are merged into another document: their document, object, and whether they are shown. */
const MARK = '/DocmillLayer';

/** Returns a function that tells whether a layer or a group of layers is hidden, as PDFium draws it. */
function hiddenLayers(graph: Graph): (layer: Value) => boolean {
  const isListedOff = listedLayers(graph);
  const isOff = (layer: Value) => {
    const view = graph.dict(graph.dict(graph.dict(layer)['/Usage'])['/View']);
    const state = graph.get(view['/ViewState']);
    return state === null ? isListedOff(layer) : state === '/OFF';
  };
  return (layer) => {
    const { '/Type': type, '/OCGs': members, '/P': policy, '/VE': expression } = graph.dict(layer);
    if (type !== '/OCMD') return isOff(layer);
    if (Array.isArray(graph.get(expression))) return !isTrue(graph, expression!, isOff);
    const states = (Array.isArray(graph.get(members)) ? graph.list(members) : members ? [members] : []).map(
      isOff,
    );
    if (states.length === 0) return false;
    switch (graph.get(policy)) {
      case '/AllOn':
        return states.includes(true);
      case '/AllOff':
        return states.includes(false);
      case '/AnyOff':
        return !states.includes(true);
      default:
        return !states.includes(false);
    }
  };
}

/** Returns a function that tells whether the configuration of a document hides a layer. */
function listedLayers(graph: Graph): (layer: Value) => boolean {
  const config = graph.dict(graph.dict(graph.root['/OCProperties'])['/D']);
  const [off, on] = [new Set(graph.list(config['/OFF'])), new Set(graph.list(config['/ON']))];
  const isBaseOff = graph.get(config['/BaseState']) === '/OFF';
  return (layer) => off.has(layer) || (isBaseOff && !on.has(layer));
}

/** Evaluates a visibility expression (ISO 32000-1, 8.11.2.2). One that is too long is true. */
function isTrue(graph: Graph, expression: Value, isOff: (layer: Value) => boolean): boolean {
  let left = MAX_OPERANDS;
  const evaluate = (value: Value, depth: number): boolean => {
    left -= 1;
    if (left < 0 || depth > MAX_DEPTH) return true;
    if (!Array.isArray(graph.get(value))) return !isOff(value);
    const [operator, ...operands] = graph.list(value);
    const isShown = (operand: Value) => evaluate(operand, depth + 1);
    if (operator === '/Not') return !operands.some(isShown);
    return operator === '/Or' ? operands.some(isShown) : operands.every(isShown);
  };
  return evaluate(expression, 0);
}

/** Returns an annotation that is hidden. */
function hideAnnotation(annotation: Dictionary, graph: Graph): Dictionary {
  return { ...annotation, '/F': graph.number(annotation['/F']) | HIDDEN };
}

/** Makes the appearances of annotations belong to their layers, because that is all that is left of them in a page. */
export function layerAppearances(graph: Graph): void {
  const isHidden = hiddenLayers(graph);
  const annotations = graph.pages.flatMap(({ dict }) => graph.list(dict['/Annots']));
  if (annotations.every((each) => graph.dict(each)['/OC'] === undefined)) return;
  const drawn = annotations.map((each) => {
    const { '/OC': layer, '/AP': appearance, '/AS': state } = graph.dict(each);
    const normal = graph.dict(appearance)['/N'];
    const shown = graph.isStream(normal) ? normal : graph.dict(normal)[String(graph.get(state))];
    return { ref: each, layer, stream: graph.isStream(shown) ? String(shown) : undefined };
  });
  const layers = new Map<string | undefined, Set<Value | undefined>>();
  for (const { layer, stream } of drawn) layers.set(stream, (layers.get(stream) ?? new Set()).add(layer));
  for (const { ref, layer, stream } of drawn) {
    if (layer === undefined) continue;
    // Annotations of different layers may share an appearance.
    if (stream !== undefined && layers.get(stream)!.size === 1) graph.merge(stream, { '/OC': layer });
    else if (isReference(ref) && isHidden(layer)) graph.set(ref, hideAnnotation(graph.dict(ref), graph));
  }
}

/** Marks the layers of a document whose pages will be merged into another one. */
export function markLayers(graph: Graph, document = -1): void {
  const isOff = listedLayers(graph);
  for (const ref of graph.list(graph.dict(graph.root['/OCProperties'])['/OCGs']))
    if (isReference(ref)) graph.merge(ref, { [MARK]: [document, `u:${ref}`, !isOff(ref)] });
}

/** Lists marked layers in the merged document. Without that, all of them would be visible. */
export function mergeLayers(merged: Graph, sources: readonly Graph[]): void {
  const copies = sources.map(() => new Map<string, string>());
  const [shown, hidden]: [Value[], Value[]] = [[], []];
  for (const [ref, value] of merged.entries()) {
    const [document, original, isShown] = merged.list(merged.dict(value)[MARK]);
    if (document === undefined) continue;
    copies[Number(document)]?.set(textOf(original) ?? '', ref);
    (isShown === true ? shown : hidden).push(ref);
    merged.merge(ref, { [MARK]: null });
  }
  if (shown.length + hidden.length === 0) return;
  const properties = merged.dict(merged.root['/OCProperties']);
  const config = merged.dict(properties['/D']);
  const trees = sources.slice(1).flatMap((graph, index) => {
    const { '/Order': tree } = graph.dict(graph.dict(graph.root['/OCProperties'])['/D']);
    return treeOf(graph, tree, copies[index + 1]!, 0);
  });
  merged.merge(merged.rootRef, {
    '/OCProperties': {
      ...properties,
      '/OCGs': [...merged.list(properties['/OCGs']), ...shown, ...hidden],
      '/D': {
        ...config,
        '/ON': [...merged.list(config['/ON']), ...shown],
        '/OFF': [...merged.list(config['/OFF']), ...hidden],
        ...(trees.length > 0 && { '/Order': [...merged.list(config['/Order']), ...trees] }),
      },
    },
  });
}

/** Returns the tree in which viewers list layers, with the references of the merged document. */
function treeOf(
  graph: Graph,
  tree: Value | undefined,
  copies: ReadonlyMap<string, string>,
  depth: number,
): Value[] {
  if (depth > 10) return [];
  return graph.list(tree).flatMap((each): Value[] => {
    const copy = isReference(each) ? copies.get(each) : undefined;
    if (copy !== undefined) return [copy];
    const found = graph.get(each);
    if (typeof found === 'string') return [found];
    return Array.isArray(found) ? [treeOf(graph, each, copies, depth + 1)] : [];
  });
}

/**
 * Changes what PDFium reads wrongly: glyph numbers of fonts that are not embedded become characters, and annotations of
 * hidden layers become hidden. For text, contents of hidden layers get the entry `/Hidden` or are removed, too, because
 * PDFium includes them.
 */
export function adaptForPdfium(graph: Graph, isText: boolean): void {
  const isHidden = hiddenLayers(graph);
  for (const [ref, value, isStream] of graph.entries()) {
    const dict = graph.dict(value);
    const isGroup = dict['/Type'] === '/OCG' || dict['/Type'] === '/OCMD';
    if (dict['/Subtype'] === '/Type0') mapGlyphs(graph, ref, dict);
    else if (isText && isGroup && isHidden(ref)) graph.merge(ref, { '/Hidden': 1 });
    else if (isText && isStream && dict['/OC'] !== undefined && isHidden(dict['/OC'])) graph.set(ref, null);
    else {
      const hidden = hide(value, 0);
      if (hidden !== value && isDictionary(hidden)) graph.merge(ref, hidden);
      else if (hidden !== value) graph.set(ref, hidden);
    }
  }
  drawAnnotations(graph);

  /** Returns a value with its annotations and groups hidden. The same one if there are none. */
  function hide(value: Value, depth: number): Value {
    if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const list = value as readonly Value[];
      const hidden = list.map((each) => hide(each, depth + 1));
      return hidden.every((each, index) => each === list[index]) ? value : hidden;
    }
    const dict = value as Dictionary;
    if (dict['/OC'] !== undefined && dict['/Rect'] !== undefined)
      return isHidden(dict['/OC']) ? hideAnnotation(dict, graph) : value;
    if (dict['/Type'] === '/OCMD') return isText && isHidden(dict) ? { ...dict, '/Hidden': 1 } : value;
    const hidden = Object.entries(dict).map(([name, each]) => [name, hide(each, depth + 1)] as const);
    return hidden.every(([name, each]) => each === dict[name]) ? value : Object.fromEntries(hidden);
  }
}

/** Adds the characters of the glyphs to a font whose codes are glyph numbers, unless the font is embedded. */
function mapGlyphs(graph: Graph, ref: string, font: Dictionary): void {
  const { '/Encoding': encoding, '/DescendantFonts': descendants, '/ToUnicode': characters } = font;
  const [descendantRef] = graph.list(descendants);
  const descendant = graph.dict(descendantRef);
  const descriptor = graph.dict(descendant['/FontDescriptor']);
  const isEmbedded = ['/FontFile', '/FontFile2', '/FontFile3'].some((name) => graph.get(descriptor[name]));
  const { '/Ordering': ordering } = graph.dict(descendant['/CIDSystemInfo']);
  const isGlyphNumber =
    String(graph.get(encoding)).startsWith('/Identity-') &&
    descendant['/Subtype'] === '/CIDFontType2' &&
    graph.get(ordering) === 'u:Identity' &&
    !graph.isStream(descendant['/CIDToGIDMap']);
  if (isEmbedded || !isGlyphNumber) return;
  const name = String(graph.get(font['/BaseFont']));
  const order = GLYPH_ORDERS.find(({ family }) => family.test(name));
  if (graph.get(characters) === null && !order) return;
  const { '/CIDToGIDMap': _, ...unmapped } = descendant;
  graph.merge(ref, {
    '/DescendantFonts': [graph.add(unmapped)],
    ...(graph.get(characters) === null &&
      order && { '/ToUnicode': graph.addStream({}, toUnicode(order.characters)) }),
  });
}
