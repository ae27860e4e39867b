import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readParameters, type SiteEnvironment } from '../platform/aws/environment.ts';
import { createSmtp } from '../platform/smtp.ts';
import { MAX_INLINE_BYTES, SITE_PATH } from '../shared/settings/aws.ts';
import type { ConversionLimits, Tool } from '../shared/tool.ts';
import type { AccountDependencies } from './accounts/accounts.ts';
import { assetsOf } from './html.ts';
import { createSite, type Site } from './site.ts';

export { readParameters };

type Shared = Pick<
  AccountDependencies,
  | 'keys'
  | 'usage'
  | 'failures'
  | 'records'
  | 'accounts'
  | 'audit'
  | 'operation'
  | 'priceRows'
  | 'limiter'
  | 'defaultLimits'
  | 'log'
> & {
  readonly tools: readonly Tool[];
  readonly supportUrl: string;
  readonly limits: Pick<ConversionLimits, 'sourceBytes'>;
  /** Takes emails that may be sent after the reply. */
  readonly keep: (task: Promise<void>) => Promise<void>;
};

/** Opens the site on AWS, with its secrets and the files beside this script. */
export async function openSite(
  { origin, resultsOrigin, resultHours, signUp, mail, openId }: SiteEnvironment,
  { tools, supportUrl, keep, limits, ...shared }: Shared,
): Promise<Site> {
  const folder = join(import.meta.dirname, 'site');
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const named = [mail?.parameter, openId?.secretParameter].filter((name) => name !== undefined);
  const secrets = await readParameters(named);
  const send = mail && createSmtp(secrets.get(mail.parameter)!, mail.from);
  const clientSecret = openId?.secretParameter && secrets.get(openId.secretParameter);
  return createSite({
    tools,
    assets: assetsOf({ script: read('app.js'), style: read('style.css') }),
    accounts: {
      ...shared,
      signUp,
      sendMail: send && ((message) => keep(send(message))),
      openId: openId && { ...openId, clientSecret },
      origin: `${origin}${SITE_PATH}`,
    },
    supportUrl: supportUrl === `${origin}${SITE_PATH}/support` ? undefined : supportUrl,
    resultOrigins: [resultsOrigin],
    path: SITE_PATH,
    maxSource: limits.sourceBytes,
    resultHours,
    maxBody: MAX_INLINE_BYTES,
  });
}
