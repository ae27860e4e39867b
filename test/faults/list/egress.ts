import { inFile } from '../list.ts';

/** Faults in the guard of outgoing connections, in downloads, and in the proxy of web pages. */
export const egress = [
  ...inFile('functions/shared/egress/guard.ts', [
    ['!excepted && !ports.has(port)', '!excepted && port < 1'],
    ['isPublic(each) && !own', 'isPublic(each) || !own'],
    ['!own.has(String(ipBytes(each)))', '!own.has(each)'],
    ['!ipAddresses.every(isAllowed)', '!ipAddresses.some(isAllowed)'],
    ['        resolveTime,\n', '        1000 * resolveTime,\n'],
    ['lookup: lookupOf(ipAddresses) }', 'lookup: lookupOf([]) }'],
  ]),
  ...inFile('functions/shared/egress/exceptions.ts', [['each.port === port && hostname', 'hostname']]),
  ...inFile('functions/shared/egress/ip-address.ts', [
    ["['100.64.0.0', 10,", "['100.64.0.0', 11,"],
    ["['2000::', 3, 'global unicast']", "['::', 0, 'all']"],
    ['  [0x02, 0x00, 0x5e, 0xfe],\n', ''],
  ]),
  ...inFile('functions/shared/source/download.ts', [
    ['redirects === REDIRECTS', 'redirects > REDIRECTS'],
    [
      'checked = await egress.check(resolveTarget(target, checked.url), requester);',
      '{ const url = new URL(resolveTarget(target, checked.url)); checked = { ...checked, url, host: url.hostname, port: Number(url.port) }; }',
    ],
    ['checked.url.origin === origin', 'checked.url.hostname === new URL(origin).hostname'],
    [' && status !== 206', ''],
  ]),
  ...inFile('functions/shared/source/body.ts', [
    ['if (bytes > limit) return done(sourceTooLargeError(limit));', ''],
    ['startArrivalTimer(idle, ', 'startArrivalTimer(1000 * idle, '],
  ]),
  ...inFile(
    'functions/shared/source/decode-file.ts',
    [
      ['encodings.length <= 2 && ', ''],
      ['if (bytes > limit) done(', 'if (bytes > 2 * limit) done('],
    ],
    'test/functions/engines/decode/',
    'test/functions/platform/local/download/',
  ),
  ...inFile('functions/shared/source/request.ts', [
    ['      agent: false,\n', '      agent: false,\n      rejectUnauthorized: false,\n'],
    ['responses <= INTERIM_RESPONSES', 'responses <= 1000 * INTERIM_RESPONSES'],
  ]),
  ...inFile('functions/engines/chromium/proxy/proxy.ts', [
    [
      'checks.get(place) ?? check(url)',
      "checks.get(place) ?? Promise.resolve({ url, host: url.hostname.replace(/^\\[|\\]$/g, ''), port: Number(url.port), lookup: undefined, checked: check } as never)",
    ],
    ['moved > bytes', 'moved > 10 * bytes'],
  ]),
  ...inFile('functions/buckets/places.ts', [
    ["(access === use || access === 'both')", '(access !== undefined || use)'],
    ["return url.endsWith('/') && readPlace", "return url !== '' && readPlace"],
    ['(\\.|%2e){0,2}', '(\\.|%2e){0,1}'],
    ['!AMBIGUOUS.test(key)', '!AMBIGUOUS.test(bucket)'],
  ]),
  ...inFile(
    'functions/buckets/buckets.ts',
    [["!buckets || kind === 'signing'", '!buckets']],
    'test/functions/buckets/buckets.aws',
  ),
];
