import { type LambdaClient, paginateListFunctions } from '@aws-sdk/client-lambda';
import { ENVIRONMENT_VARIABLE, type FunctionEnvironment } from '../../functions/platform/aws/environment.ts';

/**
 * Finds a function of a deployment in the account and region by its environment, so that commands need no file of the checkout
 * that deployed it. `member` is one that only the environment of its kind has.
 */
export async function findFunction<Environment extends FunctionEnvironment>(
  client: LambdaClient,
  member: string & keyof Environment,
  isWanted: (environment: Environment) => boolean,
): Promise<{ readonly name: string; readonly environment: Environment } | undefined> {
  for await (const { Functions = [] } of paginateListFunctions({ client }, {}))
    for (const { FunctionName: name = '', Environment } of Functions) {
      const text = Environment?.Variables?.[ENVIRONMENT_VARIABLE];
      if (!text?.includes(`"${member}"`)) continue;
      const environment = JSON.parse(text) as Environment;
      if (isWanted(environment)) return { name, environment };
    }
  return undefined;
}
