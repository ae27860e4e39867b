// Runs the attack of one row inside a network namespace, and reports its progress on file descriptor 3.
import { writeSync } from 'node:fs';
import { createCanary } from '../checks.ts';
import { oneMachine } from '../deployment/one-machine.ts';
import { runRow } from '../neighbor/service.ts';
import type { Extent } from '../row.ts';
import { ROWS } from '../rows.ts';
import type { NamespaceMessage } from './run.ts';

const [name, extent] = process.argv.slice(2);
const { inside } = ROWS.find((row) => row.name === name)!;
const canary = createCanary();
const tell = (message: NamespaceMessage) => writeSync(3, `${JSON.stringify(message)}\n`);
const reached = await runRow(
  { run: inside! },
  {
    extent: extent as Extent,
    progress: (done, total) => tell({ progress: [done, total] }),
    canary,
    deployment: oneMachine,
  },
);
tell({ reached, inspected: canary.inspected, found: canary.found });
process.exit(0);
