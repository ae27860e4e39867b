import { textSetting } from '../../functions/shared/settings/environment.ts';

/**
 * Returns the region for a client of the SDK, which unlike the CDK ignores `AWS_DEFAULT_REGION`. Without a variable, it is that of the
 * profile.
 */
export function regionOption(chosen?: string): { readonly region?: string } {
  const region =
    chosen ?? textSetting('AWS_REGION', undefined) ?? textSetting('AWS_DEFAULT_REGION', undefined);
  return region === undefined ? {} : { region };
}
