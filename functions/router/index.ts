import { TIMEOUTS } from '../shared/settings/aws.ts';
import { readDependencies } from './dependencies.ts';
import { streamReply } from './lambda-http.ts';
import { route } from './route.ts';

const dependencies = readDependencies();

/** Lambda entry. */
export const handler = streamReply((request, signal) => route(request, dependencies, signal), TIMEOUTS.wait);
