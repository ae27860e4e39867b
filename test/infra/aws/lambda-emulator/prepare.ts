// Builds what the Lambda emulator needs beside the artefacts, while there is a network.
import { buildRadosGateway } from '../radosgw-build.ts';
import { buildBase } from './base.ts';

const progress = (text: string) => process.stdout.write(`${text}\n`);
await buildBase(progress);
await buildRadosGateway(progress);
