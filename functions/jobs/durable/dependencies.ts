import type { RouterEnvironment } from '../../platform/aws/environment.ts';
import { readEnvironment } from '../../platform/aws/environment.ts';
import { readDependencies } from '../../router/lambda/dependencies.ts';
import { createEgressGuard } from '../../shared/egress/guard.ts';
import type { ExecutionDependencies } from './execution.ts';

/** Builds the dependencies of a durable execution from the settings that the stack writes into its environment. */
export function readExecution(): ExecutionDependencies {
  const { isolated, toolFunctions, jobs: settings, ownHosts } = readEnvironment<RouterEnvironment>();
  const { jobs, webhookSecrets: secrets, ...conversion } = readDependencies();
  const { tools, storage, log } = conversion;
  return {
    jobs,
    conversion: { ...conversion, limits: { ...conversion.limits, conversionTime: settings!.conversionTime } },
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
