import { GLYPH_ORDERS } from './glyph-orders.ts';
import { type Dictionary, type Graph, isDictionary, MAX_DEPTH, type Value } from './graph.ts';
import { hiddenLayers, hideAnnotation } from './layers.ts';
import { toUnicode } from './typesetter.ts';

/**
 * Changes what PDFium reads wrongly: glyph numbers of fonts that are not embedded become characters, and annotations of
 * hidden layers become hidden. For text, contents of hidden layers get the entry `/Hidden` or are removed, too, because
 * PDFium includes them.
 */
export function adaptDocument(graph: Graph, isText: boolean): void {
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
