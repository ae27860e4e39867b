import { inFile } from '../list.ts';

/** Faults in what is specific to AWS: stores, the invocation of tools, public events, and the stack. */
export const aws = [
  ...inFile('functions/platform/aws/table.ts', [
    ["if (expected === 'present') return", "if (expected !== 'absent') return"],
    ['Number(ends) <= Date.now()', 'Number(ends) <= 0'],
    ["join(' AND ')", "join(' OR ')"],
  ]),
  ...inFile('functions/platform/limiter.ts', [['        once: true,', '        once: false,']]),
  ...inFile('functions/platform/aws/invoke.ts', [
    ['if (!isRejected || left <= 0) throw thrown;', 'if (left <= 0) throw thrown;'],
    ['if (isIpAccount(account)) return DEMO_ACCOUNT;', 'if (isIpAccount(DEMO_ACCOUNT)) return account;'],
  ]),
  ...inFile(
    'functions/platform/aws/post-form.ts',
    [['response.status < 500 || attempt === ATTEMPTS', 'response.status < 400 || attempt === ATTEMPTS']],
    'test/functions/platform/aws/lambda/direct/upload',
  ),
  ...inFile('functions/platform/aws/s3.ts', [
    ["['eq', '$Content-Type', contentType],", "['starts-with', '$Content-Type', contentType.slice(0, 1)],"],
  ]),
  ...inFile('functions/platform/aws/lambda/direct/run.ts', [
    ["!isRecord(event) || 'version' in event", '!isRecord(event)'],
  ]),
  ...inFile('functions/platform/aws/lambda/direct/upload.ts', [
    ['inlineBytes > MAX_INLINE_BYTES', 'file.bytes > MAX_INLINE_BYTES'],
    [
      'const { lookup } = await egress.check(url, { account, signal });',
      'const { lookup } = { lookup: undefined as never, account, egress };',
    ],
  ]),
  ...inFile('functions/router/lambda/http.ts', [['    unordered: query.length,\n', '']]),
  ...inFile(
    'infra/aws/constructs/storage.ts',
    [['enforceSSL: true,\n      minimum', 'enforceSSL: false,\n      minimum']],
    'test/infra/aws/service-stack',
  ),
  ...inFile(
    'infra/aws/constructs/service-function.ts',
    [['retryAttempts: 0', 'retryAttempts: 1']],
    'test/infra/aws/service-stack',
  ),
  ...inFile(
    'infra/aws/docmill.ts',
    [["'s3:GetObject', 's3:DeleteObject']", "'s3:GetObject', 's3:*']"]],
    'test/infra/aws/service-stack',
  ),
];
