import type { Format } from '../../shared/formats.ts';
import { type Option, option, readSwitch, textOrSource } from '../../shared/options/option.ts';
import { OPERATORS } from './operators.ts';
import { dither, SETTINGS } from './settings.ts';
import { type Kind, nothing } from './values.ts';

export type OperatorName = keyof typeof OPERATORS;
export type SettingName = keyof typeof SETTINGS | '-dither';

type Reader = Option<readonly string[] | undefined>;

/** The categories of the options, each with its first option. */
const CATEGORIES: Readonly<Partial<Record<OperatorName | SettingName, string>>> = {
  '-resize': 'Size and crop',
  '-rotate': 'Rotate and distort',
  '-annotate': 'Text, shapes and other images',
  '-colorspace': 'Colors',
  '-negate': 'Brightness and contrast',
  '-sepia-tone': 'Color effects',
  '-blur': 'Blur and noise',
  '-paint': 'Effects',
  '-sharpen': 'Sharpen',
  '-flatten': 'Transparency and frames',
  '-channel': 'Settings of operators',
  '-delay': 'Animation',
  '-gravity': 'Settings of operators',
};

/** Operators and settings share one sequence, because settings may change between operators. */
export const STEPS = withCategories([
  ...Object.entries({ ...OPERATORS, ...SETTINGS }).map(
    ([name, [kind, description, outputs]]) => [name, reader(name, kind, description, outputs)] as const,
  ),
  ['-dither', dither],
]);

export const SETTING_NAMES = [...Object.keys(SETTINGS), '-dither'] as readonly SettingName[];

function withCategories(
  readers: ReadonlyArray<readonly [string, Reader]>,
): Readonly<Record<OperatorName | SettingName, Reader>> {
  let category = '';
  const all = readers.map(([name, read]) => {
    category = CATEGORIES[name as OperatorName] ?? category;
    return [name, { ...read, category }];
  });
  return Object.fromEntries(all);
}

/**
 * Reads an option and its words as on ImageMagick's command line, or no words if the operator is off. Without `outputs`, it
 * applies to all.
 */
function reader(name: string, kind: Kind, description: string, outputs?: readonly Format[]): Reader {
  const parse = (value: string): readonly string[] | undefined => {
    if (kind === nothing && readSwitch(value) === false) return [];
    const words = kind.parse(value);
    return words && [name, ...words];
  };
  const ignores = (value: string, format: Format | undefined) =>
    format !== undefined && outputs?.includes(format) === false && parse(value) !== undefined;
  const { rule, words, maxLength } = kind;
  const read = option(name, rule, parse, { description, words, ignores, ...(maxLength && { maxLength }) });
  return kind.namesSource ? textOrSource(read) : read;
}

/** An operator or a setting, in query order, as on ImageMagick's command line. Without words, it is off. */
interface Step<Name = OperatorName | SettingName> {
  readonly operator: Name;
  readonly value: readonly string[];
}

/** The settings of one operator: the words after each option, joined. */
export type Settings = Readonly<Partial<Record<SettingName, string>>>;

function isSetting(step: Step): step is Step<SettingName> {
  return (SETTING_NAMES as readonly string[]).includes(step.operator);
}

/** Returns the enabled operators among the steps, in order, each with its settings. */
export function operatorsOf(steps: readonly Step[]): readonly Operation[] {
  return steps
    .filter((step): step is Step<OperatorName> => !isSetting(step) && step.value.length > 0)
    .map((step) => ({ ...step, settings: settingsAt(steps, step) }));
}

/** An operator with the settings that apply to it. */
export interface Operation extends Step<OperatorName> {
  readonly settings: Settings;
}

/**
 * Returns the settings at a step: the last value before it, or else the first one after it. So a setting that is
 * given only once applies everywhere.
 */
export function settingsAt(steps: readonly Step[], step?: Step): Settings {
  const at = step ? steps.indexOf(step) : steps.length;
  const entries = SETTING_NAMES.map((name) => {
    const before = steps.slice(0, at).findLast(({ operator }) => operator === name);
    const step = before ?? steps.slice(at).find(({ operator }) => operator === name);
    return [name, step && (step.value[0]!.startsWith('+') ? 'off' : step.value[1])];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Settings;
}

/** Returns the URLs of other images that steps need, each with the option that names it. */
export function imagesOf(steps: readonly Step[]): ReadonlyMap<string, string> {
  const named = operatorsOf(steps).filter(
    ({ operator, value }) => /^(-composite|[-+]append)$/.test(operator) && value.length > 1,
  );
  return new Map(named.map(({ value: [option, url] }) => [url!, option!]));
}
