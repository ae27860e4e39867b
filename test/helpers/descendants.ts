import { processTree } from '../../functions/engines/worker/linux/proc.ts';

/** Returns all descendants of some processes. */
export function descendants(...roots: readonly number[]): number[] {
  return processTree(...roots).slice(roots.length);
}
