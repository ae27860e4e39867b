import { setTimeout } from 'node:timers/promises';
import {
  InvokeCommand,
  type LambdaClient,
  ResourceNotFoundException,
  StopDurableExecutionCommand,
} from '@aws-sdk/client-lambda';
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
    return (await client.send(command)).DurableExecutionArn;
  };
  return {
    jobs,
    // The number of executions is bounded by the account's requests per minute.
    checkRoom: () => {},
    checkWebhook,
    async submit(job) {
      const execution = await begin(job, job.id);
      if (execution !== undefined) await jobs.attach(job, execution);
    },
    // A tool that is running ends by itself, and its result expires without anyone knowing its name.
    async stop({ execution }) {
      if (execution === undefined) return;
      await client
        .send(new StopDurableExecutionCommand({ DurableExecutionArn: execution }))
        .catch((thrown: unknown) => {
          if (!(thrown instanceof ResourceNotFoundException)) throw thrown;
        });
    },
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
