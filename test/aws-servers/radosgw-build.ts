import { join } from 'node:path';
import { buildOnce, cacheOf } from '../../layers/build/product.ts';
import { unpackPackages } from '../../layers/debian/apt.ts';

const PINS = { suite: 'trixie', packages: ['radosgw'] } as const;

/** Unpacks Ceph's RADOS Gateway, a real S3 that checks signatures, and returns its folder. Installs nothing. */
export async function buildRadosGateway(progress: (text: string) => void): Promise<string> {
  const into = join(import.meta.dirname, '../../dist/test/radosgw');
  await buildOnce({ into, progress }, PINS, async (directory) => {
    await unpackPackages({ ...PINS, into: directory, cache: join(cacheOf(into), 'apt'), progress });
  });
  return into;
}
