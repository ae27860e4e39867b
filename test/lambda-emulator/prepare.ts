// Builds what the Lambda emulator needs in addition to the artifacts, while there is a network.
import { buildRadosGateway } from '../aws-servers/radosgw.ts';
import { buildHost } from './sandbox.ts';

const progress = (text: string) => process.stdout.write(`${text}\n`);
await buildHost(progress);
await buildRadosGateway(progress);
