// A process that makes parallel calls of one account: `node caller.ts '{"calls":100,…}'`. Prints how many were admitted.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createDynamoTable } from '../../../functions/platform/aws/table.ts';
import { createLimiter } from '../../../functions/platform/limiter.ts';
import { createSqliteTable, openDatabase } from '../../../functions/platform/local/database.ts';
import type { RateLimits } from '../../../functions/shared/settings/service.ts';

interface Task {
  readonly calls: number;
  readonly account: string;
  readonly limits: RateLimits;
  /** Epoch milliseconds at which all processes start. */
  readonly begin: number;
  readonly file?: string;
  readonly endpoint?: string;
}

const { calls, account, limits, begin, file, endpoint } = JSON.parse(process.argv[2]!) as Task;
const limiter = createLimiter(
  file === undefined
    ? createDynamoTable({
        table: 'keys',
        client: new DynamoDBClient({
          ...(endpoint !== undefined && { endpoint }),
          region: 'eu-central-1',
          credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
        }),
      })
    : openSqliteTable(file),
);

function openSqliteTable(file: string) {
  const database = openDatabase(file);
  return createSqliteTable(database, database.transaction);
}

while (Date.now() < begin) await new Promise((resolve) => setTimeout(resolve, 1));
const started = performance.now();
const admissions = await Promise.all(
  Array.from({ length: calls }, () => limiter.admit({ account, limits, expires: Date.now() + 60_000 })),
);
const milliseconds = (performance.now() - started) / calls;
const admitted = admissions.filter((admission) => admission.admitted).length;
process.stdout.write(JSON.stringify({ admitted, milliseconds }));
