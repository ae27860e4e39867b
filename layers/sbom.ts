import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A package in a layer's `manifest.json`. */
interface LayerPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  /** Hexadecimal hash of a Debian package. */
  readonly sha256?: string;
  /** Subresource integrity of an npm package. */
  readonly integrity?: string;
  readonly licenses: readonly string[];
}

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly libc?: string | readonly string[];
}

const ROOT = join(import.meta.dirname, '..');

/**
 * Writes the CycloneDX list of all packages that run in production: those of the layers, and the npm packages of the
 * lock file.
 */
export async function writeSbom(layers: string, names: readonly string[], into: string): Promise<void> {
  const { version } = await readJson<{ version: string }>(join(ROOT, 'package.json'));
  const inLayers = await Promise.all(
    names.map(async (layer) => {
      const packages = await readJson<LayerPackage[]>(join(layers, layer, 'manifest.json'));
      return packages.map((installed) => layerComponent(layer, installed));
    }),
  );
  const { packages } = await readJson<{ packages: Record<string, LockedPackage> }>(
    join(ROOT, 'package-lock.json'),
  );
  const locked = Object.entries(packages).filter(
    ([path, locked]) => path !== '' && !locked.dev && canRun(locked),
  );
  const components = [...inLayers.flat(), ...locked.map(([path, entry]) => npmComponent(path, entry))];
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', name: 'docmill', version } },
    // Several layers may contain the same package.
    components: [...new Map(components.map((each) => [each['bom-ref'], each])).values()],
  };
  await writeFile(into, `${JSON.stringify(document, undefined, 2)}\n`);
}

/**
 * Whether npm installs a package where docmill runs. The lock file lacks hashes of some packages that npm never
 * downloaded.
 */
function canRun({ os, cpu, libc }: LockedPackage): boolean {
  const allows = (names: string | readonly string[] | undefined, ...own: readonly string[]) =>
    names === undefined || own.some((name) => [names].flat().includes(name));
  return allows(os, 'linux') && allows(cpu, 'x64', 'arm64') && allows(libc, 'glibc');
}

function layerComponent(layer: string, one: LayerPackage) {
  if (one.integrity !== undefined)
    return npmComponent(one.name, { ...one, license: one.licenses.join(' AND ') });
  const purl = `pkg:deb/debian/${encodeURIComponent(one.name)}@${encodeURIComponent(one.version)}?arch=${one.architecture}`;
  return {
    type: 'library',
    'bom-ref': purl,
    name: one.name,
    version: one.version,
    purl,
    hashes: one.sha256 === undefined ? [] : [{ alg: 'SHA-256', content: one.sha256 }],
    // Not all of Debian's short names are SPDX identifiers.
    licenses: one.licenses.map((name) => ({ license: { name } })),
    properties: [{ name: 'docmill:layer', value: layer }],
  };
}

function npmComponent(path: string, { version = '', integrity, license }: LockedPackage) {
  const name = path.replace(/^.*node_modules\//, '');
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const sha512 = /^sha512-(\S+)/.exec(integrity ?? '')?.[1];
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    hashes:
      sha512 === undefined
        ? []
        : [{ alg: 'SHA-512', content: Buffer.from(sha512, 'base64').toString('hex') }],
    licenses: license ? [{ license: { name: license } }] : [],
    properties: [] as Array<{ name: string; value: string }>,
  };
}

async function readJson<Content>(path: string): Promise<Content> {
  return JSON.parse(await readFile(path, 'utf8')) as Content;
}
