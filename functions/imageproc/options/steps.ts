import type { Step } from '../../shared/options/parameters.ts';
import { OPERATORS } from './operators.ts';
import { SETTINGS } from './settings.ts';

/** Operators and settings share one sequence, because settings may change between operators. */
export const STEPS = { ...OPERATORS, ...SETTINGS };

export const SETTING_NAMES = Object.keys(SETTINGS) as ReadonlyArray<keyof typeof SETTINGS>;

/** An operator or a setting, in the order of the query. */
export type ImageStep = Step<typeof STEPS>;
export type SettingStep = Extract<ImageStep, { operator: keyof typeof SETTINGS }>;
export type OperatorStep = Exclude<ImageStep, SettingStep>;

/** The settings that one operator uses. */
export type Settings = {
  readonly [Name in keyof typeof SETTINGS]: (typeof SETTINGS)[Name]['default'] | SettingValue<Name>;
};
type SettingValue<Name extends keyof typeof SETTINGS> = Extract<SettingStep, { operator: Name }>['value'];

/** Returns whether a step is a setting. */
function isSetting(step: ImageStep): step is SettingStep {
  return Object.hasOwn(SETTINGS, step.operator);
}

/** Returns the operators among the steps, in order. */
export function operatorsOf(steps: readonly ImageStep[]): readonly OperatorStep[] {
  return steps.filter((step): step is OperatorStep => !isSetting(step));
}

/**
 * Returns the settings at a step: the last value before it, else the first one after it, else the default. A setting
 * that is given once thus applies wherever it is.
 */
export function settingsAt(steps: readonly ImageStep[], step?: ImageStep): Settings {
  const at = step ? steps.indexOf(step) : steps.length;
  const entries = SETTING_NAMES.map((name) => {
    const before = steps.slice(0, at).findLast(({ operator }) => operator === name);
    const given = before ?? steps.slice(at).find(({ operator }) => operator === name);
    return [name, given ? given.value : SETTINGS[name].default];
  });
  return Object.fromEntries(entries) as Settings;
}

/** Returns the URLs of other images that steps need, each with the operator that needs it. */
export function imagesOf(steps: readonly ImageStep[]): ReadonlyMap<string, OperatorStep['operator']> {
  const images = new Map<string, OperatorStep['operator']>();
  for (const step of operatorsOf(steps)) {
    const takesUrl =
      step.operator === 'composite' || step.operator === 'append' || step.operator === 'appendRight';
    if (takesUrl && step.value !== '') images.set(step.value, step.operator);
  }
  return images;
}
