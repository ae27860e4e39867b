import { serveRequests } from '../../../engines/worker/serve.ts';
import { type DecodeRequest, decodeFile } from './decode-file.ts';

await serveRequests<{ decode: DecodeRequest }>({ decode: decodeFile });
