import { TIMEOUTS } from '../shared/settings/aws.ts';
import { readDependencies } from './lambda/dependencies.ts';
import { streamReply } from './lambda/http.ts';
import { route } from './route.ts';

const { siteGateway, frontSecret, ...dependencies } = readDependencies();

/** Lambda entry. */
export const handler = streamReply(
  (request, signal) => {
    const respond = (http: typeof request) => route(http, dependencies, signal);
    return siteGateway ? siteGateway.respond(request, respond) : respond(request);
  },
  TIMEOUTS.wait,
  async () => {
    await Promise.all([siteGateway?.idle(), dependencies.traces?.flush()]);
  },
  frontSecret,
);
