import { TIMEOUTS } from '../shared/settings/aws.ts';
import { readDependencies } from './lambda/dependencies.ts';
import { streamReply } from './lambda/http.ts';
import { route } from './route.ts';

const { frontSecret, stores: _, ...dependencies } = readDependencies();

/** Lambda entry. */
export const handler = streamReply(
  (request, signal) => route(request, dependencies, signal),
  TIMEOUTS.wait,
  async () => dependencies.traces?.flush(),
  frontSecret,
);
