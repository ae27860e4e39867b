import type { Standard } from '../../finish-options.ts';
import { makeAccessible } from '../accessible.ts';
import { type Content, readContent } from '../content.ts';
import { type Graph, isDictionary, isReference, type ReadStream, textOf, type Value } from '../graph.ts';
import { CMYK, filesOf, mendArchive } from './archive.ts';
import { checkFont } from './embedded-fonts.ts';
import { type Invoice, levelOf, pdfDate, xmpDate, xmpOf } from './metadata.ts';

/** Returns the streams that `conformDocument` reads: content, fonts, profiles and invoices, but no images. */
export function neededStreams(graph: Graph): string[] {
  const invoices = new Set(
    filesOf(graph)
      .filter(({ isInvoice }) => isInvoice)
      .map(({ stream }) => stream),
  );
  return [...graph.entries()].flatMap(([ref, value, isStream]) => {
    const dict = isDictionary(value) ? value : {};
    const isData =
      dict['/Subtype'] === '/Image' || ['/Metadata', '/EmbeddedFile'].includes(String(dict['/Type']));
    return isStream && (!isData || invoices.has(ref)) ? [ref] : [];
  });
}

/**
 * Makes a document follow a standard as far as that does not change its pages. Returns what keeps it from following
 * the standard, and warnings about what was removed.
 */
export function conformDocument(
  graph: Graph,
  read: ReadStream,
  standard: Standard,
): { readonly obstacles: string[]; readonly warnings: string[] } {
  const obstacles = new Set<string>();
  const warnings = new Set<string>();
  const level = levelOf(standard);
  const isOld = level.part === 1;

  if (graph.trailer['/Encrypt'] !== undefined) obstacles.add('The document is encrypted.');
  const invoice = level.part > 0 ? mendArchive(graph, read, level.part, { obstacles, warnings }) : undefined;
  if (level.isAccessible) for (const obstacle of makeAccessible(graph, read)) obstacles.add(obstacle);
  mendInformation(invoice);
  checkContents();
  return { obstacles: [...obstacles], warnings: [...warnings] };

  /** Writes metadata that agree with the document information. */
  function mendInformation(invoice: Invoice | undefined): void {
    const info = graph.trailer['/Info'];
    const given = graph.dict(info);
    const text = (name: string) => {
      const found = textOf(graph.get(given[name]))?.trim();
      return found === '' ? undefined : found;
    };
    const date = (name: string) => xmpDate(text(name));
    const [title, author, subject, keywords, creator, producer] = [
      ...(['/Title', '/Author', '/Subject', '/Keywords', '/Creator', '/Producer'] as const),
    ].map(text);
    const [created, modified] = [date('/CreationDate'), date('/ModDate')];
    const properties = { title, author, subject, keywords, creator, producer, created, modified };
    const metadata = graph.addStream(
      { '/Type': '/Metadata', '/Subtype': '/XML' },
      xmpOf(properties, level, invoice),
    );
    graph.merge(graph.rootRef, { '/Metadata': metadata });
    if (!isReference(info)) return;
    const kept = { title, author, subject, keywords, creator, producer };
    const texts = Object.entries(kept).flatMap(([name, value]) =>
      value === undefined ? [] : [[`/${name[0]!.toUpperCase()}${name.slice(1)}`, `u:${value}`] as const],
    );
    graph.set(info, {
      ...Object.fromEntries(texts),
      ...(created !== undefined && { '/CreationDate': pdfDate(created) }),
      ...(modified !== undefined && { '/ModDate': pdfDate(modified) }),
    });
  }

  /** Reads what pages, forms, patterns, glyphs and annotations draw, and checks the fonts that they use. */
  function checkContents(): void {
    const fonts = new Map<string, Set<string>>();
    const seen = new Set<string>();
    const contentOf = (bytes: Buffer, resources: Value | undefined): Content => {
      const content = readContent(bytes);
      if (level.part > 0) {
        for (const problem of content.problems) obstacles.add(problem);
        if (content.isCmyk) obstacles.add(CMYK);
        if (content.isWide && isOld) obstacles.add('A number is too large.');
      }
      const { '/Font': named, '/XObject': objects, '/Pattern': patterns } = graph.dict(resources);
      for (const [name, codes] of content.texts) {
        const ref = graph.dict(named)[`/${name}`];
        if (codes.size === 0) continue;
        if (!isReference(ref)) {
          obstacles.add('A page uses a font that cannot be verified.');
          continue;
        }
        const all = fonts.get(ref) ?? new Set();
        fonts.set(ref, all);
        for (const code of codes) all.add(code);
      }
      for (const name of content.objects) visit(graph.dict(objects)[`/${name}`], resources);
      for (const name of content.patterns) visit(graph.dict(patterns)[`/${name}`], resources);
      return content;
    };
    const visit = (ref: Value | undefined, inherited: Value | undefined): void => {
      if (!isReference(ref) || seen.has(ref) || !graph.isStream(ref)) return;
      seen.add(ref);
      const dict = graph.dict(ref);
      const bytes = dict['/Subtype'] === '/Image' ? undefined : read(ref);
      // Forms of old programs use the resources of the page.
      if (bytes && level.part > 0 && dict['/Resources'] === undefined && inherited !== undefined)
        graph.merge(ref, { '/Resources': inherited });
      if (bytes) contentOf(bytes, dict['/Resources'] ?? inherited);
    };
    for (const { dict } of graph.pages) {
      const contents = Array.isArray(graph.get(dict['/Contents']))
        ? graph.list(dict['/Contents'])
        : [dict['/Contents']];
      const parts = contents.map((ref) => read(ref)).filter((part) => part !== undefined);
      const joined = Buffer.concat(parts.flatMap((part) => [part, Buffer.from('\n')]));
      contentOf(joined, dict['/Resources']);
      for (const annotation of graph.list(dict['/Annots'])) {
        const normal = graph.dict(graph.dict(annotation)['/AP'])['/N'];
        const states = graph.isStream(normal) ? [normal] : Object.values(graph.dict(normal));
        for (const state of states) visit(state, undefined);
      }
    }
    // Glyphs of a Type 3 font may use other fonts, which are added while the loop runs.
    for (const [ref] of fonts) checkGlyphs(ref, contentOf);
    for (const [ref, codes] of fonts)
      for (const problem of checkFont(graph, read, { ref, codes, level })) obstacles.add(problem);
  }

  function checkGlyphs(
    ref: string,
    contentOf: (bytes: Buffer, resources: Value | undefined) => Content,
  ): void {
    const font = graph.dict(ref);
    if (graph.get(font['/Subtype']) !== '/Type3') return;
    const widths = graph.list(font['/Widths']);
    const first = graph.number(font['/FirstChar']);
    const names = new Map<string, number>();
    let code = 0;
    for (const each of graph.list(graph.dict(font['/Encoding'])['/Differences'])) {
      const found = graph.get(each);
      if (typeof found === 'number') code = found;
      else {
        names.set(String(found), code);
        code += 1;
      }
    }
    const glyphs = graph.dict(font['/CharProcs']);
    const mended: Record<string, Value> = {};
    for (const [name, glyph] of Object.entries(glyphs)) {
      const bytes = read(glyph);
      if (!bytes) continue;
      const { glyphWidth } = contentOf(bytes, font['/Resources']);
      const at = names.get(name);
      const stated = at === undefined ? undefined : widths[at - first];
      const width = graph.number(stated);
      if (stated === undefined || glyphWidth === width) continue;
      // The width in the glyph has no effect on the page, but must be the same.
      const { '/Filter': _, '/DecodeParms': __, '/Length': ___, ...dict } = graph.dict(glyph);
      const text = bytes.toString('latin1').replace(/^(\s*)[+-]?[\d.]+(?=\s)/, `$1${width}`);
      if (glyphWidth === undefined) obstacles.add('A font of Type 3 states no widths.');
      mended[name] = graph.addStream(dict, Buffer.from(text, 'latin1'));
    }
    if (Object.keys(mended).length > 0) graph.merge(ref, { '/CharProcs': { ...glyphs, ...mended } });
  }
}
