import { DEADLINES } from '../shared/deadlines.ts';
import { streamReply } from '../shared/lambda/stream-reply.ts';
import { route } from './route.ts';
import { readSurroundings } from './surroundings.ts';

const surroundings = readSurroundings();

/** Lambda entry. */
export const handler = streamReply((request) =>
  route(request, surroundings, AbortSignal.timeout(DEADLINES.wait)),
);
