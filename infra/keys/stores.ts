import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import type { RouterEnvironment } from '../../functions/platform/aws/environment.ts';
import { removeObjectsOf } from '../../functions/platform/aws/s3.ts';
import { createDynamoTable } from '../../functions/platform/aws/table.ts';
import { DiskQuota } from '../../functions/platform/local/disk-space.ts';
import { removeFilesOf } from '../../functions/platform/local/disk-storage.ts';
import { createStores } from '../../functions/platform/stores.ts';
import type { Table } from '../../functions/platform/table.ts';
import { createPricing, defaultSizes, type Sizes } from '../../functions/platform/usage-report.ts';
import { SITE_PATH } from '../../functions/shared/settings/aws.ts';
import { originSetting } from '../../functions/shared/settings/environment.ts';
import * as tools from '../../functions/tools.ts';
import { findFunction } from '../aws/deployed.ts';
import { OUTPUTS_FILE, readOutputs, regionOption } from '../aws/outputs.ts';
import { pathsIn } from '../local/operation/lock.ts';
import { readSettings } from '../local/settings.ts';
import { openStores as openLocalStores } from '../local/stores.ts';
import type { Command, Stores } from './commands.ts';

/** Opens the database in DATA_DIR, or a deployed DynamoDB table. @throws Error if there is no database to read */
export async function openStores({
  table,
  region,
  creates,
}: Omit<Command, 'run'>): Promise<Stores & { close(): void }> {
  if (table === undefined) {
    const { dataDirectory, origin } = readSettings();
    // Only a new key may start a new one, so that a wrong DATA_DIR does not look like a server without keys.
    if (!creates && !existsSync(join(dataDirectory, 'docmill.db'))) {
      throw new Error(
        `There is no database in ${dataDirectory}. Set DATA_DIR to the server's data directory.`,
      );
    }
    const stores = openLocalStores(dataDirectory);
    return { ...stores, origin, removeFiles: filesIn(pathsIn(dataDirectory).results, stores.results) };
  }
  const client = new DynamoDBClient(regionOption(region));
  return {
    ...createStores(createDynamoTable({ client, table }), Object.keys(tools)),
    ...(await readDeployment(table)),
    removeFiles: async (account) => {
      const lambda = new LambdaClient(regionOption(region));
      const isOwner = ({ keyTable }: RouterEnvironment) => keyTable === table;
      const router = await findFunction(lambda, 'toolFunctions', isOwner);
      if (!router) throw new Error(`There is no router with the table ${table} in this account and region.`);
      const bucket = router.environment.resultsBucket;
      await removeObjectsOf(account, { client: new S3Client(regionOption(region)), bucket });
    },
    close: () => client.destroy(),
  };
}

/** Deletes the files of an account below a directory. */
function filesIn(directory: string, table: Table) {
  const quota = new DiskQuota(table, 0);
  return (account: string) => removeFilesOf(account, directory, quota);
}

/**
 * Returns the URL of the site, below PUBLIC_URL if it is set, and the prices of the stack with this table. A stack that was not deployed
 * from this checkout has the default sizes.
 */
async function readDeployment(table: string): Promise<Pick<Stores, 'origin' | 'priceRows'>> {
  const stacks = Object.values(await readOutputs(OUTPUTS_FILE));
  const outputs = stacks.find(({ KeyTable }) => KeyTable === table);
  const publicUrl = originSetting('PUBLIC_URL');
  const sizes = outputs?.Sizes ? (JSON.parse(outputs.Sizes) as Sizes) : defaultSizes(Object.values(tools));
  return {
    origin: publicUrl === undefined ? (outputs?.SiteUrl ?? SITE_PATH) : `${publicUrl}${SITE_PATH}`,
    priceRows: createPricing(sizes),
  };
}
