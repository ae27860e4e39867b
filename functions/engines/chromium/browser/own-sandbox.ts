import { readFileSync } from 'node:fs';
import { describe } from '../../../shared/log.ts';

/** Chromium's own sandbox is required but did not start. The message is for the operator. */
export class OwnSandboxError extends Error {
  override readonly name = 'OwnSandboxError';

  constructor(cause: unknown, settings = readNamespaceSettings()) {
    const reason =
      settings.length > 0 ? ` This machine does not allow user namespaces: ${settings.join(', ')}.` : '';
    super(
      `Chromium did not start with its own sandbox (${describe(cause)}).${reason} Set SANDBOX=best-effort to run it without one.`,
      { cause },
    );
  }
}

/** Kernel settings and the values with which ordinary users cannot create user namespaces. */
const FORBIDDING = {
  'user.max_user_namespaces': '0',
  'kernel.unprivileged_userns_clone': '0',
  'kernel.apparmor_restrict_unprivileged_userns': '1',
};

/** Returns the kernel settings that forbid user namespaces, with their values. */
export function readNamespaceSettings(root = '/proc/sys'): readonly string[] {
  return Object.entries(FORBIDDING).flatMap(([name, forbidding]) => {
    const value = readSetting(`${root}/${name.replaceAll('.', '/')}`);
    return value === forbidding ? [`${name} is ${value}`] : [];
  });
}

function readSetting(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    // Only some kernels have this setting.
    return undefined;
  }
}
