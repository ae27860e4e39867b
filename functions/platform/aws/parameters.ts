import { GetParametersCommand, SSMClient } from '@aws-sdk/client-ssm';

/** Reads secrets from SSM, by the names of their parameters. @throws Error if one is missing. */
export async function readParameters(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (names.length === 0) return new Map();
  const client = new SSMClient({});
  const read = new GetParametersCommand({ Names: [...new Set(names)], WithDecryption: true });
  const { Parameters = [], InvalidParameters = [] } = await client.send(read);
  client.destroy();
  if (InvalidParameters.length > 0)
    throw new Error(`There is no SSM parameter ${InvalidParameters.join(', ')}.`);
  return new Map(Parameters.map(({ Name, Value }) => [Name!, Value!]));
}
