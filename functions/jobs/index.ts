import { withDurableExecution } from '@aws/durable-execution-sdk-js';
import { readExecution } from './durable/dependencies.ts';
import { executeJob, type JobEvent } from './durable/execution.ts';

const dependencies = readExecution();

/** Lambda entry. */
export const handler = withDurableExecution<JobEvent, void>((event, context) =>
  executeJob(event, context, dependencies),
);
