import { createFairQueue } from '../../../functions/shared/fair-queue.ts';
import type { Download } from '../../../functions/shared/tool.ts';

/** Lets each account download `most` sources at the same time. Further ones wait, those of other accounts do not. */
export function limitDownloads(most: number, download: Download): Download {
  const queue = createFairQueue({ total: Infinity, perAccount: most });
  return (url, options) => queue.run(options.tenant, () => download(url, options), options.signal);
}
