import { GLYPH_ORDERS } from './glyph-orders.ts';
import { type Dictionary, type Graph, isReference, type Value } from './graph.ts';
import { toUnicode } from './typesetter.ts';

/**
 * Changes what PDFium reads wrongly: glyph numbers of fonts that are not embedded become characters, and contents of
 * hidden layers get the entry `/Hidden` or are removed, because PDFium includes them in the text.
 */
export function adaptDocument(graph: Graph): void {
  const isHidden = hiddenLayers(graph);
  for (const [ref, value, isStream] of graph.entries()) {
    const dict = graph.dict(value);
    if (dict['/Subtype'] === '/Type0') mapGlyphs(graph, ref, dict);
    else if (dict['/Type'] === '/OCG' || dict['/Type'] === '/OCMD') {
      if (isHidden(ref)) graph.merge(ref, { '/Hidden': 1 });
    } else if (dict['/OC'] !== undefined && isHidden(dict['/OC'])) {
      if (isStream) graph.set(ref, null);
      else graph.merge(ref, { '/F': HIDDEN });
    }
  }
}

/** The flag of a hidden annotation. */
const HIDDEN = 2;

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

/** Returns a function that tells whether a layer or a group of layers is hidden, as PDFium draws it. */
function hiddenLayers(graph: Graph): (layer: Value) => boolean {
  const config = graph.dict(graph.dict(graph.root['/OCProperties'])['/D']);
  const [off, on] = [new Set(graph.list(config['/OFF'])), new Set(graph.list(config['/ON']))];
  const isOff = (layer: Value) => {
    const view = graph.dict(graph.dict(graph.dict(layer)['/Usage'])['/View']);
    const state = graph.get(view['/ViewState']);
    if (state !== null) return state === '/OFF';
    return off.has(layer) || (graph.get(config['/BaseState']) === '/OFF' && !on.has(layer));
  };
  return (layer) => {
    const { '/Type': type, '/OCGs': members, '/P': policy } = graph.dict(layer);
    if (type !== '/OCMD') return isOff(layer);
    const states = (
      isReference(members) && !Array.isArray(graph.get(members)) ? [members] : graph.list(members)
    ).map(isOff);
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
