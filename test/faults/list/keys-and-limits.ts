import { inFile } from '../list.ts';

/** Faults in keys, signed links, accounts and sessions, and in how calls are limited and counted. */
export const keysAndLimits = [
  ...inFile('functions/platform/keys.ts', [
    ['!disabled && !accountDisabled &&', '(!disabled || !accountDisabled) &&'],
    ['expires > Date.now()', 'expires > 0'],
    ['Math.min(end, expires ?? end)', 'end'],
  ]),
  ...inFile('functions/platform/keys.ts', [['randomBytes(16)', 'randomBytes(8)']]),
  ...inFile('functions/shared/egress/ip-address.ts', [
    ['[0, 2, 4, 6].map(', '[0, 2, 4, 6, 8, 10, 12, 14].map('],
  ]),
  ...inFile('functions/platform/limiter.ts', [
    ['running >= (limits.concurrent ?? UNLIMITED)', 'running > (limits.concurrent ?? UNLIMITED)'],
    ['end > now', 'end > 0'],
    ['running: -1', 'running: -2'],
  ]),
  ...inFile('functions/platform/idempotency.ts', [
    ['JSON.stringify([account, key])', 'JSON.stringify([key])'],
    ['Number(found.until) <= now', 'Number(found.until) <= 0'],
  ]),
  ...inFile('functions/platform/key-store.ts', [
    ['!isValid(record) || record.kind)', '!isValid(record))'],
    ["item?.kind === 'signing' ? recordOf(item)", 'item ? recordOf(item)'],
    ['if (isDeepStrictEqual(marks, marksOf(joined)))', 'if (isDeepStrictEqual(marks, marks))'],
  ]),
  ...inFile('functions/platform/local/database.ts', [
    ["if (test === 'absent') return value === undefined;", "if (test === 'absent') return true;"],
    ['value === test.is', 'true'],
    ['Number(value) < test.below', 'Number(value) <= test.below'],
  ]),
  ...inFile('functions/router/admission/admit.ts', [
    ['{ ...defaults, ...limits }', '{ ...limits, ...defaults }'],
    ['await limiter.release(ticket, refund)', "await limiter.release(ticket, 'none')"],
  ]),
  ...inFile('functions/router/admission/authenticate.ts', [
    ['if (apiKeys.length > 1) return undefined;', ''],
  ]),
  ...inFile('functions/router/admission/demo.ts', [
    ['Math.min(limits.sourceBytes, DEMO_LIMITS.sourceBytes)', 'limits.sourceBytes'],
    ["  await limiter.release(all.ticket, 'all');\n", ''],
    ['{ ...watermarked, source: await run(request) }', '{ ...watermarked, ...request }'],
  ]),
  ...inFile('functions/router/admission/authenticate.ts', [
    ['!isValid || !isUnchanged', '!isValid && !isUnchanged'],
    ['1000 * Number(expires) > now', '1e6 * Number(expires) > now'],
  ]),
  ...inFile('functions/router/call.ts', [
    ["code === 'INTERNAL' || (code === 'OVERLOADED' && !exceedsShare)", "facts.code === 'INTERNAL'"],
  ]),
  ...inFile('functions/site/accounts/members.ts', [
    ['this.#records.take(`link#', 'this.#records.get(`link#'],
    ['began <= found.signedOut', 'began <= 0'],
  ]),
  ...inFile('functions/site/accounts/accounts.ts', [
    ['(await keys.listOf(member.account)).find(({ id })', '(await keys.list()).find(({ id })'],
    [
      '!isRead && !isOwnForm(request, requestOrigin)',
      '!isRead && !isOwnForm(request, requestOrigin) && member',
    ],
    [
      "const isHidden = isForOperator(path) && member !== undefined && member.role !== 'operator';",
      "const isHidden = isForOperator(path) && member?.role === 'operator';",
    ],
  ]),
];
