// Bundles the script and the style sheet of the site into `dist/site`.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

const ROOT = join(import.meta.dirname, '../..');
const client = (name: string) => join(import.meta.dirname, 'client', name);

/** Returns the script and the style sheet of the site, by file name. */
async function buildSite(): Promise<Readonly<Record<'app.js' | 'style.css', string>>> {
  const [script, style] = await Promise.all(
    ['main.ts', 'style.css'].map(async (name) => {
      const { outputFiles } = await build({
        entryPoints: [client(name)],
        write: false,
        bundle: true,
        minify: true,
        format: 'esm',
        target: ['es2023', 'chrome123', 'firefox121', 'safari17.4'],
        legalComments: 'none',
        logLevel: 'error',
      });
      return outputFiles[0]!.text;
    }),
  );
  return { 'app.js': script!, 'style.css': style! };
}

/** Writes the files of the site to a folder. */
export async function writeSite(folder = join(ROOT, 'dist/site')): Promise<void> {
  await mkdir(folder, { recursive: true });
  const files = Object.entries(await buildSite());
  await Promise.all(files.map(([name, text]) => writeFile(join(folder, name), text)));
}

if (import.meta.main) await writeSite();
