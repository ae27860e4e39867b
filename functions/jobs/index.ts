import { withDurableExecution } from '@aws/durable-execution-sdk-js';
import { readExecution } from './durable/dependencies.ts';
import { executeJob, type JobEvent } from './durable/execution.ts';
import { executeObject, type ObjectCreated } from './durable/objects.ts';

const dependencies = readExecution();

/** Lambda entry. */
export const handler = withDurableExecution<JobEvent | ObjectCreated, void>((event, context) =>
  'detail' in event ? executeObject(event, context, dependencies) : executeJob(event, context, dependencies),
);
