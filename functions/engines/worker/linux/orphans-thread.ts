import { parentPort } from 'node:worker_threads';
import { killOrphansHere } from './orphans.ts';

parentPort!.on('message', async ({ id, request }: { id: number; request: string }) => {
  await killOrphansHere(request);
  parentPort!.postMessage({ id });
});
