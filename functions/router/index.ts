import { TIMEOUTS } from '../shared/settings/aws.ts';
import { readDependencies } from './compose.ts';
import { streamReply } from './lambda-http.ts';
import { route } from './route.ts';

const { pages, ...dependencies } = readDependencies();

/** Lambda entry. */
export const handler = streamReply(
  (request, signal) => {
    const convert = (asked: typeof request) => route(asked, dependencies, signal);
    return pages ? pages.respond(request, convert) : convert(request);
  },
  TIMEOUTS.wait,
  pages?.settled,
);
