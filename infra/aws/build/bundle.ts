import { realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, dirname, join, relative, sep } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';

const ROOT = join(import.meta.dirname, '../../..');

/** Matches references of scripts to other scripts that they start as processes. */
const CHILD = /new URL\('\.\/([\w-]+)\.ts', import\.meta\.url\)/g;

/** The layer that contains each npm package. Packages not listed here are bundled. */
const IN_LAYER: Readonly<Record<string, string>> = {
  sharp: 'image',
  '@napi-rs/canvas': 'pdfjs',
  'pdf-to-img': 'pdfjs',
  'pdfjs-dist': 'pdfjs',
};

const OPTIONS = {
  write: false,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  mainFields: ['module', 'main'],
  minify: true,
  // Errors are logged with the name of their class.
  keepNames: true,
  legalComments: 'none',
  logLevel: 'error',
  banner: {
    // Defines `require` for CommonJS packages in the bundle that load a built-in module, and for `builtIns`.
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
} as const satisfies BuildOptions;

export interface Bundle {
  /** Text of each script, by file name. */
  readonly scripts: ReadonlyMap<string, string>;
  /** Layers that the function's scripts import from. */
  readonly layers: ReadonlySet<string>;
}

/** Bundles a function's entry to `index.mjs`, and each script that it starts to a file next to it. */
export async function bundleFunction(name: string): Promise<Bundle> {
  const scripts = new Map<string, string>();
  const layers = new Set<string>();
  const waiting = [join(ROOT, 'functions', name, 'index.ts')];
  const done = new Set<string>();
  for (const entry of waiting) {
    if (done.has(entry)) continue;
    done.add(entry);
    const text = await bundleScript(entry, {
      child: (script) => waiting.push(script),
      layer: (layer) => layers.add(layer),
    });
    scripts.set(entry === waiting[0] ? 'index.mjs' : childName(entry), text);
  }
  return { scripts, layers };
}

/** The construct with the functions and layers beside its script, for CDK apps that have the CDK's library. */
const CONSTRUCT = `
  import { Docmill as Base } from './docmill.ts';
  import { parseSettings } from './settings.ts';
  export class Docmill extends Base {
    constructor(scope, id, { artifacts = import.meta.dirname, settings = {} } = {}) {
      super(scope, id, { artifacts, settings: parseSettings(settings) });
    }
  }`;

/** Bundles the CDK construct of the service to one script. */
export async function bundleConstruct(): Promise<string> {
  const { outputFiles } = await build({
    ...OPTIONS,
    stdin: { contents: CONSTRUCT, resolveDir: join(ROOT, 'infra/aws'), loader: 'js' },
    external: ['aws-cdk-lib', 'constructs'],
  });
  return outputFiles[0]!.text;
}

interface Found {
  child(script: string): void;
  layer(name: string): void;
}

async function bundleScript(entry: string, found: Found): Promise<string> {
  const { outputFiles } = await build({
    ...OPTIONS,
    entryPoints: [entry],
    plugins: [packageFiles(), ownScripts(found), layerPackages(found), builtIns()],
  });
  return outputFiles[0]!.text;
}

/** Replaces `engines/pdf/pdfjs/package-file.ts`, so that files of packages are found in the layers. */
function packageFiles(): Plugin {
  const contents = `
    import { createRequire } from 'node:module';
    const layers = ${JSON.stringify(IN_LAYER)};
    export function packageFile(specifier) {
      const name = Object.keys(layers).find((name) => specifier.startsWith(name + '/'));
      return createRequire('/opt/' + layers[name] + '/index.mjs').resolve(specifier);
    }`;
  return {
    name: 'package-files',
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]pdfjs[\\/]package-file\.ts$/ }, () => ({ contents, loader: 'js' }));
    },
  };
}

/** Renames the scripts that other scripts start, and collects them for bundling. */
function ownScripts(found: Found): Plugin {
  return {
    name: 'own-scripts',
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]functions[\\/].*\.ts$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8');
        const contents = text.replace(CHILD, (_, child: string) => {
          const script = join(dirname(path), `${child}.ts`);
          found.child(script);
          return `new URL('./${childName(script)}', import.meta.url)`;
        });
        return { contents, loader: 'ts' };
      });
    },
  };
}

/** Points imports of packages in layers to their files below `/opt`, where Node does not look by default. */
function layerPackages(found: Found): Plugin {
  const own = Symbol('own');
  return {
    name: 'layer-packages',
    setup({ onResolve, resolve }) {
      onResolve({ filter: /^[@a-z]/ }, async ({ path, pluginData, kind, resolveDir }) => {
        const layer = Object.entries(IN_LAYER).find(
          ([name]) => path === name || path.startsWith(`${name}/`),
        )?.[1];
        if (pluginData === own || layer === undefined) return undefined;
        const resolved = await resolve(path, { kind, resolveDir, pluginData: own });
        found.layer(layer);
        // Resolved paths are real ones, and the folder may be a link.
        const file = relative(realpathSync(join(ROOT, 'node_modules')), resolved.path)
          .split(sep)
          .join('/');
        return { path: `/opt/${layer}/node_modules/${file}`, external: true };
      });
    },
  };
}

/**
 * Requires built-in modules instead of importing them. An import reads all exports of a module, and for `node:http`
 * that loads Node's own `fetch`, which takes a tenth of the router's startup.
 */
function builtIns(): Plugin {
  const namespace = 'built-in';
  return {
    name: namespace,
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /./ }, ({ path, kind }) =>
        kind === 'import-statement' && isBuiltin(path) ? { path, namespace } : undefined,
      );
      onLoad({ filter: /./, namespace }, ({ path }) => ({
        contents: `module.exports = require(${JSON.stringify(path)})`,
      }));
    },
  };
}

function childName(script: string): string {
  return `${basename(dirname(script))}-${basename(script, '.ts')}.mjs`;
}
