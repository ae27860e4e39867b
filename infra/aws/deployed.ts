import { type LambdaClient, ListTagsCommand, paginateListFunctions } from '@aws-sdk/client-lambda';
import { ENVIRONMENT_VARIABLE, type RouterEnvironment } from '../../functions/platform/aws/environment.ts';

/** The router of a deployment, from what AWS knows about it. */
export interface DeployedRouter {
  /** Name of the function. */
  readonly name: string;
  /** Name of the CloudFormation stack. */
  readonly stack: string;
  readonly environment: RouterEnvironment;
}

/**
 * Finds the router of a deployment among the functions of the account and region, so that commands need no file of the checkout
 * that deployed it. CloudFormation tags each function with its stack and logical ID.
 */
export async function findRouter(
  client: LambdaClient,
  isWanted: (router: DeployedRouter) => boolean,
): Promise<DeployedRouter | undefined> {
  for await (const { Functions = [] } of paginateListFunctions({ client }, {}))
    for (const { FunctionName: name = '', FunctionArn, Environment } of Functions) {
      const text = Environment?.Variables?.[ENVIRONMENT_VARIABLE];
      if (!text?.includes('"toolFunctions"')) continue;
      const { Tags = {} } = await client.send(new ListTagsCommand({ Resource: FunctionArn }));
      if (!/router/i.test(Tags['aws:cloudformation:logical-id'] ?? '')) continue;
      const environment = JSON.parse(text) as RouterEnvironment;
      const router = { name, stack: Tags['aws:cloudformation:stack-name'] ?? '', environment };
      if (isWanted(router)) return router;
    }
  return undefined;
}
