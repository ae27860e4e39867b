import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unpackPackages } from '../../layers/debian/apt.ts';

const dist = join(dirname(fileURLToPath(import.meta.url)), '../../dist');

// Unpacks the image's first process, which reaps orphaned engine processes and forwards signals to the server.
await unpackPackages({
  packages: ['tini'],
  dependencies: false,
  suite: 'trixie',
  into: join(dist, 'init'),
  cache: join(dist, 'cache/apt'),
  progress: (text) => process.stdout.write(`${text}\n`),
});
