// A DynamoDB in a thread of its own. Sends its port to the thread that started it.
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';
import dynalite from 'dynalite';

const server = dynalite({ createTableMs: 0 });
server.listen(0, '127.0.0.1', () => parentPort!.postMessage((server.address() as AddressInfo).port));
