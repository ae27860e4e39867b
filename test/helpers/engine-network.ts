import { createEgressGuard } from '../../functions/shared/egress/guard.ts';
import { createDownload } from '../../functions/shared/source/download.ts';

/** Returns the part of the network that an engine gets, without the deployment's limits. */
export function engineNetwork(egress = createEgressGuard()) {
  return { egress, download: createDownload(egress) };
}
