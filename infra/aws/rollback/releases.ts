import {
  GetFunctionConfigurationCommand,
  type LambdaClient,
  paginateListVersionsByFunction,
  UpdateAliasCommand,
} from '@aws-sdk/client-lambda';
import { ENVIRONMENT_VARIABLE, type RouterEnvironment } from '../../../functions/platform/aws/environment.ts';
import { LIVE_ALIAS } from '../../../functions/shared/settings/aws.ts';

/** A version of the router, with the versions of the tools that it was deployed with. */
interface Release {
  readonly version: string;
  readonly deployed: string;
}

/** An alias with its current and its new version. */
interface Move {
  readonly functionName: string;
  readonly version: string;
}

/** Lists the releases of a router, the newest first. */
export async function listReleases(client: LambdaClient, router: string): Promise<Release[]> {
  const releases: Release[] = [];
  for await (const { Versions = [] } of paginateListVersionsByFunction({ client }, { FunctionName: router }))
    for (const { Version = '', LastModified = '' } of Versions)
      if (Version !== '$LATEST') releases.push({ version: Version, deployed: LastModified });
  return releases.sort((a, b) => Number(b.version) - Number(a.version));
}

/**
 * Moves the aliases of the router, of all its tools and of the site to a release. The router comes last, so that
 * requests switch over at once.
 * @throws Error before anything is moved if a version of the release no longer exists.
 */
export async function rollBack(
  client: LambdaClient,
  router: string,
  version: string,
  site?: string,
): Promise<Move[]> {
  if (!/^\d+$/.test(version)) throw new Error(`A release is a number, got '${version}'.`);
  const { Environment } = await configurationOf(client, { functionName: router, version });
  const { toolFunctions } = JSON.parse(
    Environment?.Variables?.[ENVIRONMENT_VARIABLE] ?? '{}',
  ) as RouterEnvironment;
  const tools = Object.values(toolFunctions).map((arn) => {
    const [functionName = '', toolVersion = ''] = arn.split(':').slice(-2);
    return { functionName, version: toolVersion };
  });
  await Promise.all(tools.map((tool) => configurationOf(client, tool)));
  const pages = site === undefined ? [] : await siteOf(client, site, `${router}:${version}`);
  const moves = [...tools, ...pages, { functionName: router, version }];
  for (const { functionName, version: FunctionVersion } of moves)
    await client.send(
      new UpdateAliasCommand({ FunctionName: functionName, Name: LIVE_ALIAS, FunctionVersion }),
    );
  return moves;
}

/**
 * Finds the newest version of the site that passes conversions on to a version of the router. A router from before the site
 * was a function has none. The site then stays as it is, with its own router.
 */
async function siteOf(client: LambdaClient, site: string, router: string): Promise<Move[]> {
  const found: string[] = [];
  for await (const { Versions = [] } of paginateListVersionsByFunction({ client }, { FunctionName: site }))
    for (const { Version = '', Environment } of Versions)
      if (Version !== '$LATEST' && Environment?.Variables?.[ENVIRONMENT_VARIABLE]?.includes(`:${router}"`))
        found.push(Version);
  return found
    .sort((a, b) => Number(b) - Number(a))
    .slice(0, 1)
    .map((version) => ({ functionName: site, version }));
}

async function configurationOf(client: LambdaClient, { functionName, version }: Move) {
  const command = new GetFunctionConfigurationCommand({ FunctionName: functionName, Qualifier: version });
  return client.send(command).catch((cause: unknown) => {
    throw new Error(`Could not read version ${version} of ${functionName}. No alias was changed.`, { cause });
  });
}
