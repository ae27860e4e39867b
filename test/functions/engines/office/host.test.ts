import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { writeProfile } from '../../../../functions/engines/office/host.ts';

it('runs no macros of documents and follows no links', () => {
  const home = mkdtempSync(join(tmpdir(), 'profile-'));

  const profile = fileURLToPath(writeProfile(home));

  const settings = readFileSync(join(profile, 'user/registrymodifications.xcu'), 'utf8');
  rmSync(home, { recursive: true });
  const settingOf = (name: string) =>
    new RegExp(`oor:name="${name}"[^>]*><value>(\\w+)<`).exec(settings)?.[1];
  expect(settingOf('MacroSecurityLevel')).toBe('3');
  expect(settingOf('BlockUntrustedRefererLinks')).toBe('true');
});
