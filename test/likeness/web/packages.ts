import { execFile } from 'node:child_process';
import { access, glob, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

interface Package {
  readonly name: string;
  readonly version: string;
  /** As its package.json or its license file says. */
  readonly license: string;
  readonly pages: readonly string[];
}

/**
 * Packages whose pages are converted: charts, dashboards, tables, diagrams, formulas, networks, slides,
 * documentation, CSS, themes. None of them is part of this project.
 */
export const PACKAGES: readonly Package[] = [
  // Bootstrap, Chart.js 1, DataTables, FullCalendar, Morris, Flot.
  { name: 'admin-lte', version: '2.4.18', license: 'MIT', pages: ['*.html', 'pages/**/*.html'] },
  // Bootstrap, Chart.js 2, ECharts 3, DataTables, jQuery plugins.
  {
    name: 'gentelella',
    version: '1.4.0',
    license: 'MIT',
    pages: ['production/*.html', 'vendors/Chart.js/samples/**/*.html', 'vendors/jqvmap/examples/*.html'],
  },
  // Bootstrap 4, Chart.js 2, DataTables.
  { name: 'startbootstrap-sb-admin-2', version: '4.1.4', license: 'MIT', pages: ['*.html'] },
  // Bootstrap 4, C3, D3, documentation.
  { name: 'tabler-ui', version: '0.0.34', license: 'MIT', pages: ['dist/**/*.html'] },
  { name: 'chart.js', version: '1.1.1', license: 'MIT', pages: ['samples/*.html'] },
  // D3, crossfilter.
  {
    name: 'dc',
    version: '2.1.10',
    license: 'Apache-2.0',
    pages: ['web/{examples,resizing,transitions}/*.html'],
  },
  { name: 'mermaid', version: '0.5.8', license: 'MIT', pages: ['dist/www/*.html', 'test/examples/*.html'] },
  { name: 'morris.js', version: '0.5.0', license: 'BSD-2-Clause', pages: ['examples/*.html'] },
  { name: 'mathjax', version: '2.7.9', license: 'Apache-2.0', pages: ['test/*.html'] },
  { name: 'jsgrid', version: '1.5.3', license: 'MIT', pages: ['demos/*.html'] },
  { name: 'aos', version: '2.3.4', license: 'MIT', pages: ['demo/*.html'] },
  { name: 'dygraphs', version: '2.2.2', license: 'MIT', pages: ['**/*.html'] },
  { name: 'nvd3', version: '1.8.6', license: 'Apache-2.0', pages: ['**/*.html'] },
  { name: 'spectre.css', version: '0.5.9', license: 'MIT', pages: ['**/*.html'] },
  { name: 'vis', version: '4.21.0', license: 'Apache-2.0 OR MIT', pages: ['**/*.html'] },
  { name: 'impress.js', version: '1.1.0', license: 'MIT', pages: ['**/*.html'] },
  { name: 'reveal.js', version: '6.0.2', license: 'MIT', pages: ['**/*.html'] },
  // Sticky and fixed elements, sliders, lazy images, parallax.
  { name: 'uikit', version: '3.21.0', license: 'MIT', pages: ['tests/*.html'] },
  { name: 'startbootstrap-agency', version: '7.0.12', license: 'MIT', pages: ['dist/*.html'] },
  { name: 'startbootstrap-clean-blog', version: '6.0.9', license: 'MIT', pages: ['dist/*.html'] },
  { name: 'startbootstrap-creative', version: '7.0.7', license: 'MIT', pages: ['dist/*.html'] },
  { name: 'startbootstrap-resume', version: '7.0.6', license: 'MIT', pages: ['dist/*.html'] },
];

const run = promisify(execFile);

/** Downloads and unpacks the packages that are not in the folder yet. Returns the pages of each, as paths below it. */
export async function downloadPages(folder: string): Promise<string[][]> {
  const all: string[][] = [];
  for (const { name, version, pages } of PACKAGES) {
    const directory = join(folder, `${name}-${version}`);
    if (!(await exists(join(directory, 'package')))) {
      await mkdir(directory, { recursive: true });
      const packed = await run('npm', ['pack', '--silent', `${name}@${version}`], { cwd: directory });
      await run('tar', ['--extract', '--file', packed.stdout.trim(), '--warning=no-unknown-keyword'], {
        cwd: directory,
      });
    }
    const found: string[] = [];
    for await (const page of glob([...pages], { cwd: join(directory, 'package') })) {
      found.push(join(`${name}-${version}`, 'package', page));
    }
    all.push(found.sort());
  }
  return all;
}

/**
 * Returns up to `limit` pages whose path contains `only`, or one of its parts between commas: as many of each
 * package, spread evenly over it.
 */
export function choosePages(packages: readonly (readonly string[])[], limit: number, only = ''): string[] {
  const wanted = packages
    .map((pages) => pages.filter((page) => only.split(',').some((part) => page.includes(part))))
    .filter(({ length }) => length > 0)
    .toSorted((one, other) => one.length - other.length);
  const chosen: string[] = [];
  for (const [index, pages] of wanted.entries()) {
    const share = Math.ceil((limit - chosen.length) / (wanted.length - index));
    chosen.push(...spread(pages, share));
  }
  return chosen;
}

function spread<Value>(all: readonly Value[], limit: number): Value[] {
  if (all.length <= limit) return [...all];
  return Array.from({ length: limit }, (_, index) => all[Math.floor((index * all.length) / limit)]!);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
