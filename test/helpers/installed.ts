import { spawnSync } from 'node:child_process';

/** Whether this machine has all of the programs. Tests that compare with other programs are skipped without them. */
export function isInstalled(...programs: readonly string[]): boolean {
  return programs.every((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).error === undefined);
}
