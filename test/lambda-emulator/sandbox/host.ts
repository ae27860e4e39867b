import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { buildBase } from '../kernel/base.ts';
import { buildFilter } from '../kernel/build.ts';
import { buildRuntimeClient } from '../runtime/build.ts';
import type { Host } from './sandbox.ts';

// The binary itself, because a sandbox mounts it and a link would be broken inside.
const NODE = realpathSync(join(import.meta.dirname, '../../../node_modules/.bin/node'));

/** Builds the parts of every sandbox: base libraries, AWS's runtime client, Lambda's system call filter. */
export async function buildHost(log: (line: string) => void): Promise<Host> {
  const [base, client, filter] = [
    await buildBase(log),
    await buildRuntimeClient(log),
    await buildFilter(log),
  ];
  return { base, node: NODE, client, filter, log };
}
