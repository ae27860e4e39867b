import { streamReply } from '../router/lambda/http.ts';
import { TIMEOUTS } from '../shared/settings/aws.ts';
import { readSite } from './dependencies.ts';

const { respond, idle, frontSecret } = readSite();

/** Lambda entry. */
export const handler = streamReply(respond, TIMEOUTS.router, idle, frontSecret);
