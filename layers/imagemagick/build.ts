import { copyFile, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildNative, copyLibraries, MESSAGE_SOURCE } from '../build/native.ts';
import { type BuildOptions, platform } from '../build/product.ts';
import { unpackPackages } from '../debian/apt.ts';
import { SANDBOX_SOURCES } from '../sandbox/build.ts';
import { PINS } from './pins.ts';

const HERE = import.meta.dirname;

/** Empty configuration files, in place of those that name a system's programs, fonts and folders. */
const EMPTY = {
  'delegates.xml': 'delegatemap',
  'log.xml': 'logmap',
  'mime.xml': 'mimemap',
  'type.xml': 'typemap',
} as const;

/** Builds ImageMagick: `program/`, `lib/` with its own loader, `coders/`, `config/`, `heif/`, `manifest.json`, `licenses/`. */
export async function build(options: BuildOptions): Promise<void> {
  await buildNative(options, [HERE], async (build) => {
    const { directory, unpacked, libraries: all, headers: scratch } = build;
    const { suite, packages, headers, version, libraries } = PINS;
    const unpack = { ...build.unpacking, suite };
    const found = await unpackPackages({ ...unpack, packages, into: unpacked });
    await unpackPackages({ ...unpack, packages: headers, dependencies: false, into: scratch });

    options.progress('Compiling the ImageMagick engine');
    const program = join(directory, 'program/imagemagick');
    await build.compile({
      sources: [join(HERE, 'main.c'), MESSAGE_SOURCE, ...SANDBOX_SOURCES],
      include: includeFolders(scratch),
      libraries: libraries.map((library) => join(all, library)),
      flags: ['-DMAGICKCORE_QUANTUM_DEPTH=16', '-DMAGICKCORE_HDRI_ENABLE=0'],
      output: program,
    });
    const magick = join(all, `ImageMagick-${version}`);
    const modules = await copyModules(join(magick, 'modules-Q16/coders'), join(directory, 'coders'));
    await cp(join(all, 'libheif/plugins'), join(directory, 'heif'), { recursive: true, dereference: true });
    const plugins = ['libde265', 'dav1d'].map((name) => join(directory, `heif/libheif-${name}.so`));
    await copyLibraries([program, ...modules, ...plugins], { unpacked, into: join(directory, 'lib') });
    await writeConfiguration(join(unpacked, 'etc/ImageMagick-7'), join(directory, 'config'));
    return found;
  });
}

function includeFolders(scratch: string): string[] {
  const include = join(scratch, 'usr/include');
  return [include, join(include, 'ImageMagick-7'), join(include, platform().triplet, 'ImageMagick-7')];
}

/** Copies the modules of the listed formats, and returns their paths. */
async function copyModules(from: string, into: string): Promise<string[]> {
  await mkdir(into);
  const names = Object.keys(PINS.coders);
  for (const name of names) {
    await copyFile(join(from, `${name}.la`), join(into, `${name}.la`));
    await copyFile(join(from, `${name}.so`), join(into, `${name}.so`));
  }
  return names.map((name) => join(into, `${name}.so`));
}

async function writeConfiguration(from: string, into: string): Promise<void> {
  await mkdir(into);
  for (const name of ['colors.xml', 'quantization-table.xml', 'thresholds.xml']) {
    await copyFile(join(from, name), join(into, name));
  }
  for (const [name, root] of Object.entries(EMPTY)) {
    await writeFile(join(into, name), `<?xml version="1.0"?>\n<${root}>\n</${root}>\n`);
  }
  await writeFile(join(into, 'policy.xml'), policy());
}

/** Limits of one process. Each pixel takes 8 bytes, and an operator needs two images. */
const RESOURCES = {
  memory: '1200MiB',
  map: '0B',
  disk: '0B',
  area: '256MP',
  width: '1000KP',
  height: '1000KP',
  'list-length': '4096',
  thread: '1',
  // In seconds. The service's own deadline is shorter, and also ends loops that never check this limit.
  time: '300',
} as const;

/** Returns ImageMagick's `policy.xml`, which allows only the listed formats, within limits. */
function policy(): string {
  const read = Object.values(PINS.coders).flat();
  const rules = [
    ...['delegate', 'filter'].map((domain) => rule(domain, 'none', '*')),
    // Denies lists of files, commands and the standard streams.
    ...['@*', '|*', '-', 'fd:*'].map((pattern) => rule('path', 'none', pattern)),
    rule('coder', 'none', '*'),
    rule('coder', 'read', `{${read.join(',')}}`),
    rule('coder', 'read | write', `{${PINS.written.join(',')}}`),
    rule('module', 'none', '*'),
    rule('module', 'read | write', `{${Object.keys(PINS.coders).join(',').toUpperCase()}}`),
    ...Object.entries(RESOURCES).map(
      ([name, value]) => `  <policy domain="resource" name="${name}" value="${value}"/>`,
    ),
    '  <policy domain="cache" name="shared-secret" value="unused" stealth="true"/>',
    '  <policy domain="system" name="max-memory-request" value="1200MiB"/>',
    '  <policy domain="system" name="symlink" rights="none" pattern="follow"/>',
  ];
  return `<?xml version="1.0" encoding="UTF-8"?>\n<policymap>\n${rules.join('\n')}\n</policymap>\n`;
}

function rule(domain: string, rights: string, pattern: string): string {
  return `  <policy domain="${domain}" rights="${rights}" pattern="${pattern}"/>`;
}
