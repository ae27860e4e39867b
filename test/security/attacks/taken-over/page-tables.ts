// A compromised engine that reads memory which it never writes. The kernel maps the same page of zeros everywhere, so only its page
// tables grow.
import { setTimeout } from 'node:timers/promises';
import { serveRequests } from '../../../../functions/engines/worker/serve.ts';

const MAPPING = 2 ** 31;
/** Memory that one page of a page table maps. */
const STEP = 2 ** 21;

await serveRequests<{ read: { mappings: number; time: number } }>({
  read: async ({ mappings, time }) => {
    const kept = Array.from({ length: mappings }, () => new Uint8Array(MAPPING));
    const sum = kept.reduce((total, bytes) => {
      let read = 0;
      for (let at = 0; at < bytes.length; at += STEP) read += bytes[at]!;
      return total + read;
    }, 0);
    await setTimeout(time);
    return sum + kept.length;
  },
});
