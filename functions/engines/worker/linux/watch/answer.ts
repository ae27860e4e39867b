import { parentPort } from 'node:worker_threads';

/** The thread's side of `inThread`. */
export function answer<Request, Result>(work: (request: Request) => Result): void {
  parentPort!.on('message', ({ id, request }: { id: number; request: Request }) => {
    parentPort!.postMessage({ id, result: work(request) });
  });
}
