import { setTimeout } from 'node:timers/promises';
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { Job } from '../job.ts';
import type { JobQueue } from '../queue.ts';
import type { Jobs } from '../store.ts';
import type { JobEvent } from './execution.ts';

/** How often to look at a job that somebody waits for, in milliseconds. */
const INTERVAL = 1000;

/** Creates the queue on AWS: each job is a durable execution, which starts at once and waits for its account's limits. */
export function createDurableQueue({
  jobs,
  client,
  functionName,
  checkWebhook,
}: {
  readonly jobs: Jobs;
  readonly client: LambdaClient;
  /** ARN of the version or alias of the function for jobs. */
  readonly functionName: string;
  readonly checkWebhook: JobQueue['checkWebhook'];
}): JobQueue {
  const begin = async ({ account, id }: Job, name: string) => {
    const event: JobEvent = { account, job: id };
    const command = new InvokeCommand({
      FunctionName: functionName,
      InvocationType: 'Event',
      // A second execution of this name is not started.
      DurableExecutionName: name,
      Payload: JSON.stringify(event),
    });
    await client.send(command);
  };
  return {
    jobs,
    // The number of executions is bounded by the account's requests per minute.
    checkRoom: () => {},
    checkWebhook,
    submit: (job) => begin(job, job.id),
    // A tool that is running ends by itself. Until then it counts towards the account's limits, so the execution goes on.
    stop: async () => {},
    async deliver(job) {
      const { delivery } = job;
      if (!delivery) return;
      const planned = await jobs.deliver(job, {
        ...delivery,
        state: 'pending',
        attempts: 0,
        next: Date.now(),
      });
      if (planned) await begin(planned, `${job.id}-${Date.now()}`);
    },
    place: () => undefined,
    changed: (_job, time, signal) => setTimeout(Math.min(time, INTERVAL), !signal.aborted),
  };
}
