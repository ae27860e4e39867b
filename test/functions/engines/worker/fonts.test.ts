import { describe, expect, it } from 'vitest';
import { fontEnvironment } from '../../../../functions/engines/worker/fonts.ts';

describe('fontEnvironment', () => {
  it('points fontconfig at the layer and its cache at the temporary folder', () => {
    const environment = fontEnvironment('/opt', '/tmp/private');

    expect(environment).toEqual({
      FONTCONFIG_FILE: '/opt/fonts/fonts.conf',
      XDG_CACHE_HOME: '/tmp/private/cache',
    });
  });
});
