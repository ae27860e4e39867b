import { serveRequests } from '../worker/serve.ts';
import { type UnpackRequest, unpack } from './unpack.ts';

await serveRequests<{ unpack: UnpackRequest }>({ unpack });
