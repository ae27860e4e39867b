import { readFileSync } from 'node:fs';

/** Number of file descriptors that this process may open, and the number of them for connections. */
interface Descriptors {
  readonly limit: number;
  readonly connections: number;
  /** Whether the limit is too low for the service to run at full load. */
  readonly low: boolean;
}

/**
 * Descriptors per worker (its pipes and sockets in this process), and per waiting or running conversion (its files).
 */
const OF_A_WORKER = 6;
const OF_A_CONVERSION = 4;
/** Node's own descriptors, logs, name lookups and other short-lived ones. */
const OTHERS = 200;
/** Descriptors per connection: its socket, and the file that is sent over it. */
const OF_A_CONNECTION = 2;

/** Divides the descriptors that `ulimit -n` allows between engines and connections. */
export function divideDescriptors(
  { workers, queue }: { workers: number; queue: number },
  limit = descriptorLimit(),
): Descriptors {
  const needed = OTHERS + workers * OF_A_WORKER + queue * OF_A_CONVERSION;
  const left = Math.floor((limit - needed) / OF_A_CONNECTION);
  const low = left < queue;
  // With a low limit, conversions and connections each get half.
  const connections = low ? Math.max(8, Math.floor(limit / 2 / OF_A_CONNECTION)) : left;
  return { limit, connections: Math.min(connections, 20_000), low };
}

/**
 * Returns how many callers may wait for the same conversion. An account has at most half of the queue, and its
 * callers together at most half of the connections.
 */
export function callersPerConversion(connections: number, queue: number): number {
  return Math.max(1, Math.floor(connections / 2 / Math.max(1, Math.ceil(queue / 2))));
}

/** Returns the soft limit, which Node raises to the hard limit at startup. */
function descriptorLimit(): number {
  const limits = readFileSync('/proc/self/limits', 'utf8');
  const text = /^Max open files\s+(\S+)/m.exec(limits)?.[1];
  return text === 'unlimited' ? 1_048_576 : Number(text);
}
