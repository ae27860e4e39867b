import { type LambdaClient, paginateListFunctions } from '@aws-sdk/client-lambda';
import { ENVIRONMENT_VARIABLE, type RouterEnvironment } from '../../functions/platform/aws/environment.ts';

/** The router of a deployment, from what AWS knows about it. */
export interface DeployedRouter {
  /** Name of the function. */
  readonly name: string;
  readonly environment: RouterEnvironment;
}

/**
 * Finds the router of a deployment among the functions of the account and region, so that commands need no file of the checkout
 * that deployed it. Only a router knows the functions of the tools.
 */
export async function findRouter(
  client: LambdaClient,
  isWanted: (environment: RouterEnvironment) => boolean,
): Promise<DeployedRouter | undefined> {
  for await (const { Functions = [] } of paginateListFunctions({ client }, {}))
    for (const { FunctionName: name = '', Environment } of Functions) {
      const text = Environment?.Variables?.[ENVIRONMENT_VARIABLE];
      if (!text?.includes('"toolFunctions"')) continue;
      const environment = JSON.parse(text) as RouterEnvironment;
      if (isWanted(environment)) return { name, environment };
    }
  return undefined;
}
