import { chmod, copyFile, glob, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import { FOLDED, type Folded, type FoldedFile } from '../../../functions/shared/lambda/inflate-layers.ts';
import { inParallel } from '../../../layers/build/parallel.ts';
import { type BuildOptions, buildOnce } from '../../../layers/build/product.ts';

const compress = promisify(zstdCompress);

/** Which files of a layer are kept as zstd, by their path: only as many as the size limit asks for. */
export interface FoldPlan {
  /** Needed before an engine can start. */
  readonly first: RegExp;
  /** Needed before the first conversion. */
  readonly later: RegExp;
  /** Texts for people, which no engine opens. */
  readonly never: RegExp;
}

const NOTHING = /^$/;
const TEXTS = /^licences\//;

export const FOLD_PLANS: Readonly<Record<string, FoldPlan>> = {
  libreoffice: {
    // The program looks for all others beside where it really lies.
    first:
      /^(program\/soffice\.bin|program\/lib(mergedlo|pdfiumlo|sal_textenclo|localedata_\w+)\.so|lib\/lib(icudata|icui18n|icuuc|crypto|stdc\+\+|gnutls|gio-2\.0|glib-2\.0|unistring|xml2|db-5\.3|clucene-core|p11-kit|gcrypt|sqlite3|orcus-0\.18|zxcvbn|nss3|cairo|X11|harfbuzz|systemd|ssl|curl|krb5|boost_locale|freetype|hunspell-1\.7|mwaw-0\.3|staroffice-0\.0|odfgen-0\.1|visio-0\.1)\.so[.\d]*)$/,
    later:
      /^program\/lib(swlo|sclo|sdlo|scfiltlo|sw_writerfilterlo|dbalo|mswordlo|vbaobjlo|vbaswobjlo|smlo|svgfilterlo)\.so$/,
    never: TEXTS,
  },
  // What only qpdf needs: html2pdf has room for no more beside Chromium.
  pdf: {
    first: NOTHING,
    later: /^lib\/lib(qpdf|gnutls|unistring|p11-kit|gmp|hogweed|nettle)\.so[.\d]*$/,
    never: TEXTS,
  },
  // All but the emoji, which are pictures; the configuration too, for it looks for faces beside where it really lies.
  fonts: { first: /^(fonts\.conf|faces\/(?!NotoColorEmoji).*)$/, later: NOTHING, never: TEXTS },
  // The program looks for SwiftShader beside where it really lies, for these wherever it is told to.
  chromium: { first: /^lib\/.*$/, later: NOTHING, never: TEXTS },
};

/** Copies a built layer to the form in which it is uploaded: `<into>/<name>/…`, which Lambda shows as `/opt/<name>/…`. */
export async function foldLayer(name: string, source: string, options: BuildOptions): Promise<void> {
  const plan = FOLD_PLANS[name] ?? { first: NOTHING, later: NOTHING, never: TEXTS };
  const recipe = {
    layer: await readFile(join(source, '.recipe'), 'utf8'),
    plan: Object.values(plan).map(String),
    script: await readFile(import.meta.filename, 'utf8'),
  };
  await buildOnce(options, recipe, async (directory) => {
    const target = join(directory, name);
    const folded: { first: FoldedFile[]; later: FoldedFile[] } = { first: [], later: [] };
    const work: Array<() => Promise<void>> = [];
    for await (const entry of glob('**', { cwd: source, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const from = join(entry.parentPath, entry.name);
      const path = relative(source, from);
      const { mode, size } = await stat(from);
      const when = plan.first.test(path) ? folded.first : plan.later.test(path) ? folded.later : undefined;
      const open = mode & 0o100 ? 0o755 : 0o644;
      when?.push({ path, mode: open, bytes: size });
      const fold = when !== undefined || plan.never.test(path);
      work.push(() =>
        fold ? foldFile(from, join(target, `${path}.zst`)) : copy(from, join(target, path), open),
      );
    }
    options.progress(`Folding ${name}`);
    await inParallel(work, 4, (task) => task());
    // The largest take longest, so they are begun first.
    for (const list of [folded.first, folded.later]) list.sort((a, b) => b.bytes - a.bytes);
    if (folded.first.length + folded.later.length > 0) {
      await writeFile(join(target, FOLDED), JSON.stringify(folded satisfies Folded));
    }
  });
}

async function foldFile(from: string, to: string): Promise<void> {
  const bytes = await compress(await readFile(from), {
    params: { [constants.ZSTD_c_compressionLevel]: 12 },
  });
  await mkdir(dirname(to), { recursive: true });
  await writeFile(to, bytes);
  await chmod(to, 0o644);
}

async function copy(from: string, to: string, mode: number): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await copyFile(from, to);
  // Another user will read it, whatever the builder's mask.
  await chmod(to, mode);
}
