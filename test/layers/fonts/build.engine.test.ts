import { execFile } from 'node:child_process';
import { access, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fonteditor from 'fonteditor-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fontEnvironment } from '../../../functions/engines/worker/sandbox.ts';
import { unpackPackages } from '../../../layers/debian/apt.ts';
import { build, showText } from '../../../layers/fonts/build.ts';
import { LEFT_OUT } from '../../../layers/fonts/configuration.ts';
import { STAND_INS, standInName } from '../../../layers/fonts/stand-ins.ts';

const dist = join(import.meta.dirname, '../../../dist');
const layers = join(dist, 'layers');
const progress = () => undefined;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'fonts-test-'));
  await build({ into: join(layers, 'fonts'), progress });
  const cache = join(dist, 'cache/apt');
  await unpackPackages({ packages: ['fontconfig'], suite: 'trixie', into: directory, cache, progress });
});

afterAll(() => rm(directory, { recursive: true, force: true }));

/** Returns the face that fontconfig chooses, through its own C library. */
async function match(
  pattern: string,
  configuration: 'fonts.conf' | 'office.conf' = 'fonts.conf',
  folder = layers,
  format = '%{family[0]} %{file}',
): Promise<string> {
  const libraries = join(directory, 'usr/lib/x86_64-linux-gnu');
  const { stdout } = await promisify(execFile)(
    join(libraries, 'ld-linux-x86-64.so.2'),
    ['--library-path', libraries, join(directory, 'usr/bin/fc-match'), '--format', format, pattern],
    { env: fontEnvironment(folder, configuration) },
  );
  if (!format.includes('%{file}')) return stdout;
  expect(stdout).toContain(folder);
  return stdout.slice(0, stdout.indexOf(' /'));
}

describe('the fonts layer', () => {
  it.each([
    ['Arial', 'Liberation Sans'],
    ['Times New Roman', 'Liberation Serif'],
    ['Courier New', 'Liberation Mono'],
    ['Calibri', 'Carlito'],
    ['Cambria', 'Caladea'],
    ['Verdana', 'DejaVu Sans'],
    ['Consolas', 'DejaVu Sans Mono'],
    ['Wingdings', 'OpenSymbol'],
    ['Symbol', 'OpenSymbol'],
    ['SimSun', 'WenQuanYi Micro Hei'],
    ['Meiryo', 'WenQuanYi Micro Hei'],
    ['MS Gothic', 'MotoyaLCedar'],
    ['Khmer UI', 'Noto Sans Khmer'],
    ['Myanmar Text', 'Noto Sans Myanmar'],
    ['a face nobody has', 'Liberation Sans'],
    ['sans-serif', 'Liberation Sans'],
    ['serif', 'Liberation Serif'],
    ['monospace', 'Liberation Mono'],
  ])('substitutes %s with %s', async (family, face) => {
    const chosen = await match(family);

    expect(chosen).toBe(face);
  });

  it.each([
    ['an ideograph', '6f22', 'WenQuanYi Micro Hei'],
    ['Hangul', 'd55c', 'WenQuanYi Micro Hei'],
    ['a smiley', '1f600', 'Noto Color Emoji'],
    ['a check mark', '2714', 'DejaVu Sans'],
    ['Thai', '0e01', 'Noto Sans Thai'],
    ['Odia', '0b05', 'Noto Sans Oriya'],
    ['Tibetan', '0f40', 'Noto Serif Tibetan'],
    ['Cherokee', '13a0', 'Noto Sans Cherokee'],
    ['Mongolian', '1820', 'Noto Sans Mongolian'],
    ['Urdu', '06d2', 'Noto Sans Arabic'],
    ['Devanagari', '0915', 'Noto Sans Devanagari'],
  ])('finds %s', async (_, character, face) => {
    const chosen = await match(`Arial:charset=${character}`);

    expect(chosen).toBe(face);
  });

  it.each([
    ['sans-serif', 'ja', 'MotoyaLCedar'],
    ['Meiryo', 'ja', 'MotoyaLCedar'],
    ['sans-serif', 'zh-cn', 'WenQuanYi Micro Hei'],
    ['sans-serif', 'zh-tw', 'WenQuanYi Micro Hei'],
    ['sans-serif', 'ko', 'WenQuanYi Micro Hei'],
  ])('finds an ideograph for %s in the forms of %s', async (family, language, face) => {
    const chosen = await match(`${family}:lang=${language}:charset=6f22`);

    expect(chosen).toBe(face);
  });

  it.each([
    ['Calibri', 'Carlito'],
    ['Cambria', 'Caladea'],
    ['Aptos', 'Metric Aptos'],
    ['Symbol', 'StarSymbol'],
    ['Wingdings', 'OpenSymbol'],
    ['Segoe UI Light', 'Metric Segoe UI'],
    ['宋体', 'Metric SimSun'],
    ['MS Mincho', 'Metric MS Mincho'],
    ['Open Sans', 'Liberation Sans'],
    ['Lato Light', 'Carlito'],
    ['Oswald', 'Liberation Sans Narrow'],
    ['MS Sans Serif', 'Liberation Sans'],
    ['Source Code Pro', 'DejaVu Sans Mono'],
    ['Some Mono', 'Liberation Mono'],
    ['EB Garamond', 'Liberation Serif'],
    ['Some Serif', 'Liberation Serif'],
    ['Roboto Slab', 'DejaVu Serif'],
    ['a face nobody has', 'Liberation Sans'],
    ['Times New Roman', 'Liberation Serif'],
  ])('substitutes %s with %s in LibreOffice, which also asks for a serif', async (family, face) => {
    expect(await match(`${family},serif`, 'office.conf')).toBe(face);
  });

  it.each([
    ['a face nobody has', 'fa', '0627', 'Noto Sans Arabic'],
    ['Times New Roman', 'ar', '0627', 'Noto Sans Arabic'],
    ['a face nobody has', 'zh-cn', '6f22', 'WenQuanYi Micro Hei'],
  ])('finds a letter that %s lacks in LibreOffice: %s %s', async (family, language, character, face) => {
    expect(await match(`${family}:lang=${language}:charset=${character}`, 'office.conf')).toBe(face);
  });

  it.each([
    ['SimSun', 'Metric SimSun'],
    ['Malgun Gothic', 'Metric Malgun Gothic'],
    ['MS Mincho', 'Metric MS Mincho'],
    ['Meiryo', 'Metric Meiryo'],
    ['Noto Sans Thai', 'Noto Sans Thai'],
  ])('makes %s bold and slanted where there is no such face', async (family, face) => {
    const format = '%{family[0]} %{embolden} %{slant} %{matrix}';
    for (const configuration of ['fonts.conf', 'office.conf'] as const) {
      const made = await match(`${family}:bold:italic`, configuration, layers, format);
      const plain = await match(family, configuration, layers, format);

      // 110 is oblique, and 0.2 slants.
      expect(made).toMatch(/ True 110 1 0\.2 0 1$/);
      if (configuration === 'office.conf') expect(made.startsWith(`${face} `)).toBe(true);
      expect(plain).not.toMatch(/True|110/);
    }
  });

  it('scales bitmaps to the size of the text', async () => {
    const format = '%{pixelsizefixupfactor}';

    expect(Number(await match('Noto Color Emoji:pixelsize=18', 'fonts.conf', layers, format))).toBeCloseTo(
      0.165,
      2,
    );
  });

  it('applies each rule of fontconfig that it does not leave out for a reason', async () => {
    const available = join(directory, 'usr/share/fontconfig/conf.avail');
    const known = await readdir(available);
    const enabled = (await readdir(join(directory, 'etc/fonts/conf.d'))).filter((name) =>
      known.includes(name),
    );
    const compact = (text: string) => text.replace(/<!--[\s\S]*?-->|\s+/g, '');
    const elements = async (name: string) =>
      compact(await readFile(join(available, name), 'utf8')).match(/<fontconfig>(.*)<\/fontconfig>/)![1]!;
    const applied = enabled.filter((name) => !Object.hasOwn(LEFT_OUT, name));

    for (const file of ['fonts.conf', 'office.conf']) {
      const configuration = compact(await readFile(join(layers, 'fonts', file), 'utf8'));
      for (const name of applied)
        expect(configuration.includes(await elements(name)), `${file} has ${name}`).toBe(true);
    }
    expect(applied).toContain('90-synthetic.conf');
    expect(Object.keys(LEFT_OUT).filter((name) => !enabled.includes(name))).toEqual([]);
  });

  it('has letters and lines of the same size as the fonts that it stands for', async () => {
    for (const { family, style, base, characters, widths, ascent, descent } of STAND_INS) {
      const file = `${standInName(family)}-${style}.ttf`.replaceAll(' ', '');
      const face = fonteditor
        .createFont(await readFile(join(layers, 'fonts/faces', file)), { type: 'ttf' })
        .get();
      const unit = face.head.unitsPerEm! / 1000;
      const glyphs = new Map(
        face.glyf.flatMap((glyph) => (glyph.unicode ?? []).map((code) => [code, glyph] as const)),
      );
      const different = [...characters].filter((character, index) => {
        const glyph = glyphs.get(character.codePointAt(0)!);
        return glyph && Math.abs(glyph.advanceWidth - widths[index]! * unit) > 1;
      });

      expect({ file, base, different }).toEqual({ file, base, different: [] });
      expect(face.hhea.ascent - face.hhea.descent).toBeCloseTo((ascent - descent) * unit, -1);
    }
  });

  it('has a regular face of each family that it has another face of', () => {
    const families = (style?: string) =>
      new Set(
        STAND_INS.filter((each) => style === undefined || each.style === style).map(({ family }) => family),
      );

    expect(families('Regular')).toEqual(families());
  });

  it('centers a narrow letter in a wide space instead of stretching it', async () => {
    const letter = async (file: string) => {
      const face = fonteditor
        .createFont(await readFile(join(layers, 'fonts/faces', file)), { type: 'ttf' })
        .get();
      const { advanceWidth, leftSideBearing, xMin, xMax } = face.glyf.find(({ unicode }) =>
        unicode?.includes('t'.charCodeAt(0)),
      )!;
      return { left: leftSideBearing, drawn: xMax - xMin, right: advanceWidth - xMax };
    };

    const free = await letter('LiberationSans-Regular.ttf');
    const wide = await letter('MetricTrebuchetMS-Regular.ttf');

    expect(wide.drawn / free.drawn).toBeLessThan(1.11);
    expect(wide.left - free.left).toBeGreaterThan(80);
    expect(wide.right - free.right).toBeGreaterThan(80);
  });

  it('contains no absolute path except the name of its folder in the caches', async () => {
    const configuration = await readFile(join(layers, 'fonts/fonts.conf'), 'utf8');

    expect(configuration.match(/[>"]\s*\/[^"<]*/g)).toEqual(['"/fonts']);
  });

  it('has caches that are still valid in another folder', async () => {
    const moved = join(directory, 'fonts');
    // Node's own function does not keep the times of folders.
    await promisify(execFile)('cp', ['-a', join(layers, 'fonts'), moved]);
    const caches = join(moved, 'fontconfig');
    const written = (name: string) => stat(join(caches, name)).then(({ mtimeMs }) => [name, mtimeMs]);
    const state = async () => Promise.all((await readdir(caches)).sort().map(written));
    const before = await state();

    // Both would write a cache that is missing.
    await match('Calibri', 'office.conf', directory);
    await showText(join(layers, 'chromium'), fontEnvironment(directory));

    expect(before.map(([name]) => name)).toEqual(
      ['CACHEDIR.TAG', 'cache-11', 'cache-9'].map((end) => expect.stringMatching(new RegExp(`${end}$`))),
    );
    expect(await state()).toEqual(before);
  });

  it('names version, hash and license of every package and brings the license text', async () => {
    const manifest = JSON.parse(await readFile(join(layers, 'fonts/manifest.json'), 'utf8'));

    expect(manifest.length).toBeGreaterThan(8);
    for (const entry of manifest) {
      expect(entry).toMatchObject({
        version: expect.any(String),
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
      expect(entry.licenses).not.toEqual([]);
      await access(join(layers, 'fonts', entry.licenseText));
    }
  });
});
