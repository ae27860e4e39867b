import { type DecodeRequest, decodeFile } from '../../shared/source/decode-file.ts';
import { serveRequests } from '../worker/serve.ts';

await serveRequests<{ decode: DecodeRequest }>({ decode: decodeFile });
