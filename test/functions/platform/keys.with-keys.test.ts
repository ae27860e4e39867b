import { expect, it } from 'vitest';
import { withKeys } from '../../../functions/platform/keys.ts';
import { traceOf } from '../../../functions/router/call.ts';
import { describe } from '../../../functions/shared/log.ts';

it('accepts a key from the settings, in any form, in addition to the stored ones', async () => {
  const stored = { find: async () => undefined, findSigner: async () => undefined };
  const record = { id: 'key_0', account: 'a', name: 'stored', created: 0, disabled: false, limits: {} };
  const keys = withKeys({ ...stored, find: async (apiKey) => (apiKey === 'stored' ? record : undefined) }, [
    { apiKey: 'my own key', name: 'API_KEY' },
  ]);

  expect(await keys.find('my own key')).toMatchObject({
    name: 'API_KEY',
    account: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
  expect(await keys.find('stored')).toBe(record);
  expect(await keys.find('my own')).toBeUndefined();
  // As one that was generated, it must not be logged, whichever header it comes in.
  const header = () => 'my-other-key';
  expect(traceOf({ header }).requestId).toBe('my-other-key');
  withKeys(stored, [{ apiKey: 'my-other-key', name: 'API_KEY' }]);
  expect(traceOf({ header }).requestId).not.toContain('my-other-key');
  expect(describe(new Error('my-other-key is refused'))).toBe('Error: … is refused');
});
