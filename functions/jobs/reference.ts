import { JOBS_PATH } from '../router/http.ts';
import type { JsonSchema } from '../shared/options/option.ts';
import { MAX_WAIT, PAGE } from './endpoint.ts';
import { STATUSES } from './job.ts';

const TEXT = { type: 'string' };
const COUNT = { type: 'integer' };
const ID = { name: 'id', in: 'path', required: true, schema: TEXT };

/** Returns the OpenAPI operations about jobs. `outputs` are the properties that a job has once it is done. */
export function jobOperations(
  outputs: Readonly<Record<string, JsonSchema>>,
  responses: (schema: JsonSchema) => JsonSchema,
  failures: JsonSchema,
) {
  const job = {
    type: 'object',
    required: ['id', 'url', 'status', 'app', 'created'],
    properties: {
      ...outputs,
      id: TEXT,
      url: TEXT,
      status: { type: 'string', enum: STATUSES },
      place: { ...COUNT, description: 'Position among the queued jobs of the account, from 1.' },
      created: TEXT,
      started: TEXT,
      ended: TEXT,
      error: { type: 'object', properties: { code: TEXT, detail: TEXT } },
      webhook: {
        type: 'object',
        properties: { url: TEXT, state: TEXT, attempts: COUNT, next: TEXT, last: TEXT },
      },
    },
  };
  return {
    [JOBS_PATH]: {
      GET: {
        operationId: 'listJobs',
        summary: 'Returns the jobs of the account, newest first.',
        parameters: [
          {
            name: 'limit',
            in: 'query',
            schema: { ...COUNT, minimum: 1, maximum: PAGE.max, default: PAGE.absent },
          },
          { name: 'before', in: 'query', schema: COUNT, description: 'See `next` of the response.' },
        ],
        responses: responses({
          type: 'object',
          properties: { jobs: { type: 'array', items: job }, next: TEXT },
        }),
      },
    },
    [`${JOBS_PATH}/{id}` as const]: {
      GET: {
        operationId: 'job',
        summary: 'Returns a job.',
        parameters: [
          ID,
          {
            name: 'wait',
            in: 'query',
            schema: { ...COUNT, minimum: 0, maximum: MAX_WAIT, default: 0 },
            description: 'Seconds to wait until the status changes.',
          },
        ],
        responses: responses(job),
      },
      DELETE: {
        operationId: 'cancelJob',
        summary: 'Cancels a job that has not ended.',
        parameters: [ID],
        responses: responses(job),
      },
    },
    [`${JOBS_PATH}/{id}/webhook` as const]: {
      POST: {
        operationId: 'deliverWebhook',
        summary: 'Delivers the webhook of a job again.',
        parameters: [ID],
        responses: { 204: { description: 'The webhook will be sent.' }, ...failures },
      },
    },
  };
}
