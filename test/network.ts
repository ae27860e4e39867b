import { createEgress } from '../functions/shared/egress/guard.ts';
import { createDownload } from '../functions/shared/source/download.ts';

/** What an engine gets of the network, without the deployment's limits. */
export function networkOf(egress = createEgress()) {
  return { egress, download: createDownload(egress) };
}
