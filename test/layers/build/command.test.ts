import { describe, expect, it } from 'vitest';
import { runCommand } from '../../../layers/build/command.ts';

describe('runCommand', () => {
  it('answers what the program printed', async () => {
    const printed = await runCommand('printf', ['%s', 'a b']);

    expect(printed).toBe('a b');
  });

  it('says what a failed program said', async () => {
    const failing = runCommand('sh', ['-c', 'echo no such thing >&2; exit 3']);

    await expect(failing).rejects.toThrow('sh ended with 3: no such thing');
  });

  it('names the package that brings a missing program', async () => {
    const missing = runCommand('dpkg-deb', ['--version'], { environment: { PATH: '/nonexistent' } });

    await expect(missing).rejects.toThrow("install the package 'dpkg'");
  });
});
