import { createDynamoAccounts } from '../../../../functions/platform/aws/accounts.ts';
import { createDynamoAudit } from '../../../../functions/platform/aws/audit.ts';
import { createDynamoFailures } from '../../../../functions/platform/aws/failures.ts';
import { createDynamoKeys } from '../../../../functions/platform/aws/keys.ts';
import { startDynalite } from '../../../infra/aws/servers/dynalite.ts';
import { describeAccounts } from '../accounts/contract.ts';

describeAccounts('DynamoDB', async () => {
  const { client, close } = await startDynalite('keys');
  const store = { client, table: 'keys' };
  return {
    accounts: createDynamoAccounts(store),
    keys: createDynamoKeys(store),
    failures: createDynamoFailures(store),
    audit: createDynamoAudit(store),
    close,
  };
});
