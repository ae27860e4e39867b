import { describe, expect, it } from 'vitest';
import { runCommand } from '../../../layers/build/command.ts';

describe('runCommand', () => {
  it('returns the output of the program', async () => {
    const printed = await runCommand('printf', ['%s', 'a b']);

    expect(printed).toBe('a b');
  });

  it('quotes the stderr of a failed program', async () => {
    const failing = runCommand('sh', ['-c', 'echo no such thing >&2; exit 3']);

    await expect(failing).rejects.toThrow('sh failed with 3: no such thing');
  });

  it('names the package of a missing program', async () => {
    const missing = runCommand('dpkg-deb', ['--version'], { environment: { PATH: '/nonexistent' } });

    await expect(missing).rejects.toThrow("Install the package 'dpkg'");
  });
});
