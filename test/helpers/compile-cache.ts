import { textSetting } from '../../functions/shared/settings/environment.ts';

const folder = textSetting('NODE_COMPILE_CACHE', undefined);

/** For the environment of Node processes. Without compiled code, each takes most of its time to compile TypeScript. */
export const COMPILE_CACHE = folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
