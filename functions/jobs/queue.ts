import type { Job } from './job.ts';
import type { Jobs } from './store.ts';

/** Runs jobs when it is their turn. Implemented separately for AWS and for one machine. */
export interface JobQueue {
  readonly jobs: Jobs;
  /** @throws ConversionError `RATE_LIMITED` if the account has too many queued jobs */
  checkRoom(account: string): void;
  /** @throws ConversionError `BLOCKED_ADDRESS`, `BAD_PARAMETER` for a URL to which no webhooks may be sent */
  checkWebhook(url: string, account: string, signal: AbortSignal): Promise<void>;
  /** Runs a new job when it is its turn. */
  submit(job: Job): Promise<void>;
  /** Stops the work for a job that was canceled. */
  stop(job: Job): Promise<void>;
  /** Delivers the webhook of a job that has ended, again or for the first time. */
  deliver(job: Job): Promise<void>;
  /** Returns the position of a queued job among those of its account, from 1, if it is known. */
  place(job: Job): number | undefined;
  /**
   * Resolves when a job may have changed, at the latest after `time` milliseconds. Returns `false` if nobody may wait any longer.
   * @throws ConversionError `RATE_LIMITED` if too many requests of the account wait
   */
  changed(job: Job, time: number, signal: AbortSignal): Promise<boolean>;
}
