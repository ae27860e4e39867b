import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ConversionError } from '../../functions/shared/errors.ts';
import type { Format } from '../../functions/shared/formats.ts';
import type { Options, Parameter } from '../../functions/shared/options/option.ts';
import { readOptions } from '../../functions/shared/options/read-options.ts';
import type { Tool } from '../../functions/shared/tool.ts';
import { unzip } from '../helpers/zip.ts';
import { EXTENT } from './extent.ts';

/** A value of an option other than its default, and what it needs to have an effect. */
export interface Sample {
  readonly value: string;
  /** Further options, also in the conversion to compare with. */
  readonly beside?: Readonly<Record<string, string>>;
  /** Name of the source. */
  readonly source?: string;
}

/** One sample for each option that callers can set: a new option does not compile without. */
export type Samples<T extends Tool, Internal extends string = never> = Readonly<
  Record<Exclude<keyof T['options'] & string, Internal>, Sample>
>;

/** An option of a tool with its sample. */
interface Case {
  readonly name: string;
  readonly sample: Sample;
}

/** The keys of options whose effect other test files draw, by the path of the file, such as `html2pdf/convert.paper`. */
export type Drawn = Readonly<Record<string, string>>;

/** Returns a case for each option of a tool. The first ring leaves out those that other test files draw. */
export function casesOf(tool: Tool, samples: Readonly<Record<string, Sample>>, drawn: Drawn = {}): Case[] {
  const elsewhere = new Set(Object.entries(drawn).flatMap(([file, keys]) => keysIn(tool, file, keys)));
  return Object.entries<Options[string]>(tool.options).flatMap(([key, { names, default: value }]) => {
    const sample = samples[key];
    if (!sample || (elsewhere.has(key) && !EXTENT.isWhole)) return [];
    // A switch that is on by default is turned off by its preferred name.
    expect(sample.value, `${key} differs from its default`).not.toBe(String(value));
    return { name: names[0]!, sample };
  });
}

/** Splits the keys of options, which the test file must mention. */
function keysIn(tool: Tool, file: string, keys: string): string[] {
  const text = readFileSync(join(import.meta.dirname, `${file}.engine.test.ts`), 'utf8');
  const all = keys.split(/[\s,]+/).filter(Boolean);
  for (const key of all) {
    const names: readonly string[] = tool.options[key]?.names ?? [];
    expect(
      names.some((name) => text.includes(name)),
      `${file} draws ${key}`,
    ).toBe(true);
  }
  return all;
}

/** A conversion with these options. Throws what the engine throws. */
export type Run = (
  given: readonly Parameter[],
  source: string | undefined,
  format: Format,
) => Promise<Buffer>;

type Effect = 'error' | 'ignored' | 'changed' | 'unchanged';

/**
 * Returns a check that an option changes the result in the first format in which it may, or, in the lab, in at least one format, and that
 * it is rejected or listed as ignored in each other one.
 */
export function effectCheck(
  tool: Tool,
  run: Run,
  /** Completes a value of a sample. */
  complete = (value: string) => value,
): (test: Case) => Promise<void> {
  const known = new Map<string, Promise<string>>();

  const convert = (given: readonly Parameter[], source: string | undefined, format: Format) =>
    run(given, source, format).then(
      (bytes) => contentOf(bytes, format),
      (thrown) => `error: ${messageOf(thrown)}`,
    );

  /** Converts without the option, the first time twice, because no effect can be observed if equal conversions differ. */
  async function convertWithout(...conversion: Parameters<typeof convert>): Promise<string> {
    const [, , format] = conversion;
    const isFirst = !known.has(format);
    const first = convert(...conversion);
    if (isFirst || EXTENT.isWhole) {
      known.set(format, first);
      expect((await convert(...conversion)) === (await first), 'equal conversions have equal results').toBe(
        true,
      );
    }
    return first;
  }

  async function observe({ name, sample }: Case, format: Format): Promise<Effect> {
    const beside = Object.entries(sample.beside ?? {}).map(([other, value]) => ({
      name: other,
      value: complete(value),
    }));
    const given = [...beside, { name, value: complete(sample.value) }];
    const { issues, ignored } = readOptions(tool, given, format);
    if (issues.length > 0) return 'error';
    if (ignored.includes(name)) return 'ignored';
    const changed = await convert(given, sample.source, format);
    const identity = JSON.stringify([beside, sample.source, format]);
    const unchanged = known.get(identity) ?? convertWithout(beside, sample.source, format);
    known.set(identity, unchanged);
    if (changed !== (await unchanged)) return 'changed';
    // The source cannot be converted to this format, with the option or without.
    return changed.startsWith('error: ') ? 'error' : 'unchanged';
  }

  return async (test) => {
    const formats: Record<Effect, Format[]> = { changed: [], unchanged: [], ignored: [], error: [] };
    for (const format of tool.formats) {
      formats[await observe(test, format)].push(format);
      if (formats.changed.length > 0 && !EXTENT.isWhole) break;
    }

    expect(formats.unchanged, 'formats in which the option has no effect and is not ignored').toEqual([]);
    expect(formats.changed, 'formats in which the option has an effect').not.toEqual([]);
  };
}

/** Returns the message for the caller. Any other error is a fault of the service. */
function messageOf(thrown: unknown): string {
  if (thrown instanceof ConversionError && thrown.code !== 'INTERNAL') return thrown.message;
  throw thrown;
}

/** Returns a result without what differs between two conversions of the same source: times and random IDs. */
async function contentOf(bytes: Buffer, format: Format): Promise<string> {
  if (['docx', 'xlsx', 'pptx', 'odt', 'ods', 'odp'].includes(format)) {
    const entries = await unzip(bytes);
    // LibreOffice numbers and writes the styles of pages in any order.
    const sorted = (text: string) => text.split('<').sort().join('<');
    return entries
      .map(({ name, content }) => name + sorted(withoutTimes(content.toString('latin1'))))
      .join('\n');
  }
  return withoutTimes(bytes.toString('latin1'));
}

function withoutTimes(text: string): string {
  return (
    text
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?/g, '')
      .replace(/D:\d{14}[^)]*/g, '')
      .replace(/\/ID ?\[[^\]]*\]/g, '')
      .replace(/\/DocChecksum \/\w+/g, '')
      .replace(/\\(creatim|revtim|printim)[^}]*/g, '')
      // These differ with the order in which LibreOffice writes the styles of pages.
      .replace(
        /first-page-number="\w+"|\bMpm\d+|<config:config-item config:name="VisibleArea[^>]*>-?\d+/g,
        '',
      )
      .replace(/PT\d+S|\d\d:\d\d:\d\d/g, '')
      .replace(/uuid:[\w-]+|rsid\w*|xml:id="[^"]*"|\bct\d{9,}|fld id="[^"]*"/g, '')
  );
}
