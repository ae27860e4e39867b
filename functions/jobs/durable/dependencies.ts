import { type RouterEnvironment, readEnvironment } from '../../platform/aws/environment.ts';
import { readDependencies } from '../../router/lambda/dependencies.ts';
import { createEgressGuard } from '../../shared/egress/guard.ts';
import type { ObjectDependencies } from './objects.ts';

/** Builds the dependencies of a durable execution from the settings that the stack writes into its environment. */
export function readExecution(): ObjectDependencies {
  const {
    isolated,
    toolFunctions,
    jobs: settings,
    ownHosts,
    work = [],
  } = readEnvironment<RouterEnvironment>();
  const { stores, ...conversion } = readDependencies();
  const { tools, storage, log } = conversion;
  const { accounts, jobs, webhookSecrets: secrets } = stores;
  return {
    jobs,
    conversion: {
      ...conversion,
      limits: { ...conversion.limits, conversionTime: settings!.conversionTime },
      isDisabled: async (account) => (await accounts.get(account))?.disabled ?? false,
    },
    rules: work,
    // The outermost host name.
    origin: `https://${ownHosts.at(-1)}`,
    functionOf: (tool) => toolFunctions[tool] ?? tool,
    isolated,
    guard: createEgressGuard({ ownHosts }),
    secrets,
    tools,
    // The bucket has an origin of its own.
    storageAt: () => storage,
    log,
  };
}
