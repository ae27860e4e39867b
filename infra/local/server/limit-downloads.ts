import { createFairQueue } from '../../../functions/shared/fair-queue.ts';
import type { Download } from '../../../functions/shared/tool.ts';

/** Lets each account download `max` sources at the same time. Further ones wait, those of other accounts do not. */
export function limitDownloads(max: number, download: Download): Download {
  const queue = createFairQueue({ total: Infinity, perAccount: max });
  return (url, options) => queue.run(options.account, () => download(url, options), options.signal);
}
