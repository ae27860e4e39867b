import { createWriteStream } from 'node:fs';
import { chmod, copyFile, glob, mkdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import { ZipFile } from 'yazl';
import {
  COMPRESSED,
  type CompressedFile,
  type CompressedFiles,
} from '../../../functions/platform/aws/lambda/inflate-layers.ts';
import { inParallel } from '../../../layers/build/command.ts';
import { type BuildOptions, buildOnce } from '../../../layers/build/product.ts';

const compress = promisify(zstdCompress);

/** Patterns of the files of a layer that are stored as zstd: only as many as Lambda's size limit requires. */
interface CompressionPlan {
  /** Files that an engine needs to start. */
  readonly first: RegExp;
  /** Files that the first conversion needs. */
  readonly later: RegExp;
  /** Text files that no engine opens. */
  readonly never: RegExp;
  /** Compression level. The highest by default. */
  readonly level?: number;
}

const NOTHING = /^$/;
const TEXTS = /^licenses\//;
/** The highest level of zstd that does not need more memory for decompression. */
const LEVEL = 19;

const COMPRESSION_PLANS: Readonly<Record<string, CompressionPlan>> = {
  libreoffice: {
    // The program looks for all other files next to its real path.
    first: /^(program\/lib(mergedlo|localedata_\w+)|lib\/libicudata)\.so[.\d]*$/,
    // The highest level would take minutes for its 120 MiB.
    level: 12,
    later: /^(program\/lib(swlo|sclo|smlo|dbalo|vbaobjlo|vbaswobjlo)\.so|lib\/libmwaw-.*|share\/hyphen\/.*)$/,
    never: TEXTS,
  },
  // Only qpdf needs these. html2pdf, which also has Chromium, has no space for more.
  pdf: {
    first: NOTHING,
    later: /^lib\/lib(qpdf|gnutls|unistring|p11-kit|gmp|hogweed|nettle)\.so[.\d]*$/,
    never: TEXTS,
  },
  // All faces except the emoji, which are images and do not compress. Includes the configurations, because they look
  // for faces next to their real path.
  fonts: { first: /^(\w+\.conf|faces\/(?!NotoColorEmoji).*)$/, later: NOTHING, never: TEXTS },
  // The program looks for the other files next to its real path.
  chromium: { first: /^lib\/.*$/, later: NOTHING, never: TEXTS },
};

/** Writes a built layer in the form that is uploaded, `<into>/<name>/…`, which a function sees as `/opt/<name>/…`. */
export async function compressLayer(name: string, source: string, options: BuildOptions): Promise<void> {
  const plan = COMPRESSION_PLANS[name] ?? { first: NOTHING, later: NOTHING, never: TEXTS };
  const recipe = {
    layer: await readFile(join(source, '.recipe'), 'utf8'),
    // An update builds other packages from the same recipe.
    packages: await readFile(join(source, 'manifest.json'), 'utf8'),
    plan: Object.values(plan).map(String),
    script: await readFile(import.meta.filename, 'utf8'),
  };
  await buildOnce(options, recipe, async (directory) => {
    const target = join(directory, name);
    const compressed: { first: CompressedFile[]; later: CompressedFile[] } = { first: [], later: [] };
    const work: Array<() => Promise<void>> = [];
    for await (const entry of glob('**', { cwd: source, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const from = join(entry.parentPath, entry.name);
      const path = relative(source, from);
      const { mode, size } = await stat(from);
      const when = plan.first.test(path)
        ? compressed.first
        : plan.later.test(path)
          ? compressed.later
          : undefined;
      const open = mode & 0o100 ? 0o755 : 0o644;
      when?.push({ path, mode: open, bytes: size });
      const fold = when !== undefined || plan.never.test(path);
      work.push(() =>
        fold
          ? compressFile(from, join(target, `${path}.zst`), plan.level ?? LEVEL)
          : copy(from, join(target, path), open),
      );
    }
    options.progress(`Compressing ${name}`);
    await inParallel(work, 4, (task) => task());
    // The largest files come first, because they take longest.
    for (const list of [compressed.first, compressed.later]) list.sort((a, b) => b.bytes - a.bytes);
    if (compressed.first.length + compressed.later.length > 0) {
      await writeFile(join(target, COMPRESSED), JSON.stringify(compressed satisfies CompressedFiles));
    }
  });
}

async function compressFile(from: string, to: string, level: number): Promise<void> {
  const bytes = await compress(await readFile(from), {
    params: { [constants.ZSTD_c_compressionLevel]: level },
  });
  await mkdir(dirname(to), { recursive: true });
  await writeFile(to, bytes);
  await chmod(to, 0o644);
}

async function copy(from: string, to: string, mode: number): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await copyFile(from, to);
  // Makes the file readable by other users, regardless of the builder's umask.
  await chmod(to, mode);
  // The version of the service tells when an engine was built.
  const { mtime } = await stat(from);
  await utimes(to, mtime, mtime);
}

/** Fixed modification time, so that unchanged files result in the same archive, which `cdk` does not upload again. */
const MODIFIED = new Date(1980, 0, 1);

/**
 * Writes the files of a layer as a ZIP archive, except those that start with a dot. `cdk` archives folders itself,
 * but on Windows files have no permissions, and an engine that is not executable does not start.
 * @throws Error for a symbolic link.
 */
export async function archiveLayer(folder: string, archive: string): Promise<void> {
  const zip = new ZipFile();
  const written = pipeline(zip.outputStream, createWriteStream(archive));
  const paths: string[] = [];
  for await (const entry of glob('**', { cwd: folder, withFileTypes: true }))
    if (entry.isSymbolicLink()) throw new Error(`${join(entry.parentPath, entry.name)} is a symbolic link.`);
    else if (entry.isFile()) paths.push(join(entry.parentPath, entry.name));
  for (const path of paths.sort()) {
    const { mode } = await stat(path);
    zip.addFile(path, relative(folder, path), { mode, mtime: MODIFIED, forceDosTimestamp: true });
  }
  zip.end();
  await written;
}
