// Runs the attack of one module inside a network namespace, and reports its progress on file descriptor 3.
import { writeSync } from 'node:fs';
import { createCanary } from '../checks/canary.ts';
import { oneMachine } from '../deployment/one-machine.ts';
import { runRow } from '../neighbor/watch.ts';
import type { Extent, Row } from '../row.ts';
import type { NamespaceMessage } from './run.ts';

const [module, extent] = process.argv.slice(2);
const { inside } = (await import(module!)) as { inside: Row['run'] };
const canary = createCanary();
const tell = (message: NamespaceMessage) => writeSync(3, `${JSON.stringify(message)}\n`);
const reached = await runRow(
  { run: inside },
  {
    extent: extent as Extent,
    progress: (done, total) => tell({ progress: [done, total] }),
    canary,
    deployment: oneMachine,
  },
);
tell({ reached, inspected: canary.inspected, found: canary.found });
process.exit(0);
