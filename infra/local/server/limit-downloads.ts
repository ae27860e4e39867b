import { createFairQueue } from '../../../functions/shared/fair-queue.ts';

interface Options {
  readonly account: string;
  readonly signal: AbortSignal;
}

/**
 * Lets each account run `max` downloads at the same time. Further ones wait, without delaying downloads of other
 * accounts.
 */
export function limitDownloads<Parameter extends Options, Result>(
  max: number,
  download: (url: string, options: Parameter) => Promise<Result>,
): (url: string, options: Parameter) => Promise<Result> {
  const queue = createFairQueue({ total: Infinity, perAccount: max });
  return (url, options) => queue.run(options.account, () => download(url, options), options.signal);
}
