import { parentPort } from 'node:worker_threads';
import { findUnlinked } from './unlinked.ts';

// See count-unlinked.ts.
parentPort!.on('message', ({ id, pids }: { id: number; pids: readonly number[] }) => {
  parentPort!.postMessage({ id, unlinked: findUnlinked(pids) });
});
