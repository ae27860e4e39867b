import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A rule that is removed from the source, and the tests that must fail. */
export interface Mutation {
  readonly name: string;
  /** Path from the project's root. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  readonly tests: readonly string[];
}

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const EGRESS_TEST = [
  'test/functions/shared/egress/guard.rules.test.ts',
  'test/functions/shared/egress/guard.test.ts',
];
const SOURCE_TEST = [
  'test/functions/shared/source/download.rules.test.ts',
  'test/functions/shared/source/download.test.ts',
];
const SOURCE_FAULTS_TEST = ['test/functions/shared/source/download.faults.test.ts'];
const PACE_TEST = ['test/functions/shared/source/pace.test.ts'];
const DOWNLOADS_TEST = ['test/infra/local/server/limit-downloads.test.ts'];
const PROXY_TEST = ['test/functions/engines/chromium/proxy/proxy.test.ts'];
const RANGES = 'functions/shared/egress/ranges.ts';
const EGRESS = 'functions/shared/egress/guard.ts';
const SOURCE = 'functions/shared/source/download.ts';
const PACE = 'functions/shared/source/pace.ts';
const DOWNLOADS = 'infra/local/server/limit-downloads.ts';
const SPACE = 'functions/platform/local/free-space.ts';
const SPACE_TEST = ['test/functions/platform/local/free-space.test.ts'];
const KEYS = 'functions/platform/keys/keys.ts';
const KEYS_TEST = ['test/functions/platform/local/accounts.test.ts'];
const KEYLESS = 'functions/router/admission/keyless.ts';
const KEYLESS_TEST = ['test/functions/router/admission/keyless.test.ts'];
const BODY = 'functions/shared/source/body.ts';
const DECODE = 'functions/shared/source/decode-file.ts';
const REQUEST = 'functions/shared/source/request.ts';
const PROXY = 'functions/engines/chromium/proxy/proxy.ts';
const ENGINE = 'functions/engines/worker/process.ts';
const CHILD = 'functions/engines/worker/serve.ts';
const POOL = 'functions/engines/worker/pool.ts';
const EXCESS = 'functions/engines/worker/excess.ts';
const SANDBOX = 'layers/sandbox/sandbox.c';
const SANDBOX_TEST = ['test/layers/sandbox/sandbox.engine.test.ts'];
const RULES_OF_BOTH = 'layers/sandbox/rules.h';
const DENIED_BY_ALL = 'layers/sandbox/denied.h';
const PROCESS_OF_BOTH = 'layers/sandbox/rules.c';
const BROWSER_SANDBOX = 'layers/chromium/sandbox/browser_sandbox.c';
const BROWSER_SANDBOX_TEST = ['test/layers/chromium/sandbox.engine.test.ts'];
const SURVIVORS_TEST = ['test/functions/engines/chromium/browser/serve.survivors.engine.test.ts'];
const WORKSPACE = 'functions/engines/worker/workspace.ts';
const WORKSPACE_TEST = ['test/functions/engines/worker/workspace.engine.test.ts'];
const OUTPUT = 'functions/engines/chromium/output.ts';
const OUTPUT_TEST = ['test/functions/engines/chromium/output.test.ts'];
const SERVE = 'functions/engines/chromium/browser/serve.ts';
const OWN_HOME_TEST = [
  'test/functions/engines/chromium/browser/serve.killed.engine.test.ts',
  '-t',
  'directory of its own',
];
const FAULTS_TEST = ['test/functions/engines/worker/pool.faults.engine.test.ts'];
const HIDDEN_TEST = ['test/functions/engines/worker/linux/remove.engine.test.ts'];
const POOL_TEST = ['test/functions/engines/worker/pool.engine.test.ts'];

/** Every range of the guard, line by line. */
function ranges(): Mutation[] {
  const lines = readFileSync(`${ROOT}${RANGES}`, 'utf8').split('\n');
  const rules = lines.filter((line) => /^ {2}\[.+\],$/.test(line));
  return rules.map((line) => ({
    name: `range ${/^ {2}\[(.+?, .+?),/.exec(line)?.[1] ?? line}`,
    file: RANGES,
    find: `${line}\n`,
    replace: '',
    tests: EGRESS_TEST,
  }));
}

/** Every system call that the sandbox denies, and dropping root's capabilities. */
function calls(): Mutation[] {
  const text = readFileSync(`${ROOT}${SANDBOX}`, 'utf8');
  const filter = text.slice(text.indexOf('static int restrict_calls('));
  const refusals =
    filter.match(/\b(DENY|DENY_WITH|DENY_WITH_FLAG|ONLY_WITH|ONLY_WITH_FLAG)\(\w+(, \w+(\(\))?)*\),/g) ?? [];
  return [
    ...refusals.map((find) => ({ name: find, file: SANDBOX, find, replace: '', tests: SANDBOX_TEST })),
    ...rules(SANDBOX, SANDBOX_TEST, [
      ['sockets', 'DENY(socket), ', ''],
      ['no clone3', ', NO_CLONE3,', ','],
      ['programs by any descriptor', 'START(sandbox->start), ', ''],
      ['programs by any path', ' ONLY_WITH(execveat, 4, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW),', ''],
    ]),
    ...rules(RULES_OF_BOTH, SANDBOX_TEST, [
      ['clone3 does not exist', 'FAIL(ENOSYS)', 'BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)'],
    ]),
    // Other users have no capabilities to drop.
    ...rules(
      PROCESS_OF_BOTH,
      SANDBOX_TEST,
      process.getuid?.() === 0 ? [['root capabilities', ' || drop_capabilities()', '']] : [],
    ),
  ];
}

/** Every system call that all sandboxes deny. */
function callsOfAll(): Mutation[] {
  const text = readFileSync(`${ROOT}${DENIED_BY_ALL}`, 'utf8');
  // A call of `sync` would wait for all disks.
  const calls =
    /\b(DENY|DENY_EPERM|ONLY|MISSING|SKIP|UNSUPPORTED)(_WITH|_BITS|_WITH_FLAG|_WITH_BITS)?\(\w+(, [\w |]+)*\),/g;
  const found = (text.match(calls) ?? []).filter((find) => find !== 'DENY(sync),');
  return rules(
    DENIED_BY_ALL,
    SANDBOX_TEST,
    found.map((find) => [`everywhere ${find}`, find, ''] as const),
  );
}

/** Every system call that the browser's sandbox denies, besides those that all engines are denied. */
function browserCalls(): Mutation[] {
  const text = readFileSync(`${ROOT}${BROWSER_SANDBOX}`, 'utf8');
  const filter = text.slice(text.indexOf('int restrict_calls('));
  const refusals =
    filter.match(
      /\b(DENY|ONLY_WITH|ONLY_WITH_BITS|DENY_EPERM_WITH_FLAG|DENY_WITH|SKIP_WITH|JUDGE)\(\w+(, \w+)*\),/g,
    ) ?? [];
  const list = [...refusals, 'NO_CLONE3,'].map((find) => [`browser ${find}`, find, ''] as const);
  return rules(BROWSER_SANDBOX, BROWSER_SANDBOX_TEST, [
    ...list,
    ['browser links and other special files', '~SPECIAL_FILES & ', ''],
  ]);
}

/** Tests what the browser does instead of the text of its flags. */
const BROWSER_TEST = ['test/security/security.service.test.ts', '-t', 'browser-leaks'];
/** Requests outside of all pages have no access to the network, regardless of the contexts of pages. */
const BROWSER_FLAGS_TEST = ['test/security/security.service.test.ts', '-t', 'browser-flags'];
const FLAGS = 'functions/engines/chromium/browser/flags.ts';
const SESSION = 'functions/engines/chromium/page/open-session.ts';

type Rule = readonly [name: string, find: string, replace: string];

function rules(file: string, tests: readonly string[], list: readonly Rule[]): Mutation[] {
  return list.map(([name, find, replace]) => ({ name, file, find, replace, tests }));
}

/** Every rule of the guard and of the code that connects through it. */
export function mutations(): Mutation[] {
  return [
    ...ranges(),
    ...calls(),
    ...callsOfAll(),
    ...browserCalls(),
    ...rules(RANGES, EGRESS_TEST, [['only 2000::/3', "['2000::', 3, 'global unicast']", "['::', 0, 'all']"]]),
    ...rules(EGRESS, EGRESS_TEST, [
      ['the port', 'if (!excepted && !ports.has(port)) throw blockedPortError(port, ports);', ''],
      ['own host names', 'if (!excepted && ownHosts.has(bareHost(host))) throw blockedError();', ''],
      ['own host names, last dot', ".replace(/\\.$/, '')", ''],
      ['no answer', 'ipAddresses.length === 0 || ', ''],
      ['an answer that is no address', ' || !ipAddresses.every((each) => isIP(each))', ''],
      ['not public', 'isPublic(each) && ', ''],
      ['own addresses', ' && !own.has(String(ipBytes(each)))', ''],
      ['thousands of addresses', '.slice(0, MAX_IP_ADDRESSES)', ''],
      ['every answer', '!ipAddresses.every(isAllowed)', '!ipAddresses.some(isAllowed)'],
      [
        'http and https only',
        'if (!/^https?:$/.test(url.protocol) || !url.hostname) {',
        'if (!url.hostname) {',
      ],
      ['lookup timeout', 'withTimeout(resolveTime, signal,', 'withTimeout(1e9, signal,'],
      ['one sentence for every refusal', ' : blockedError(cause);', ' : cause;'],
      ['dialled as checked', 'lookup: lookupOf(ipAddresses) }', 'lookup: lookupOf([]) }'],
      ['exact exceptions', 'exceptions.has(', '((_place: string) => exceptions.size > 0)('],
      ['an exception is host:port', 'if (!port || !url ||', 'if (false && !port || !url ||'],
    ]),
    ...rules(SOURCE, SOURCE_TEST, [
      ['redirects are counted', 'if (redirects === REDIRECTS) {', 'if (redirects === 50) {'],
      [
        'redirects are checked',
        'checked = await egress.check(resolveTarget(target, checked.url), requester);',
        '{ const url = new URL(resolveTarget(target, checked.url)); checked = { ...checked, url, host: url.hostname, port: Number(url.port) }; }',
      ],
      [
        'credentials stay at their origin',
        'checked.url.origin === origin ? authorization : undefined',
        'authorization',
      ],
      ['status', 'if (status < 200 || status > 299 || status === 206) {', 'if (status > 599) {'],
      ['206', ' || status === 206', ''],
      [
        'whole time',
        'withTimeout(budgets.whole, options.signal, follow, () => downloadTimeoutError(budgets.whole))',
        'follow(options.signal)',
      ],
    ]),
    ...rules(SOURCE, SOURCE_FAULTS_TEST, [
      ['empty', "if (bytes === 0) throw new ConversionError('CORRUPT_SOURCE', 'The source is empty.');", ''],
    ]),
    ...rules(PACE, PACE_TEST, [['a turn', 'if (chunks % CHUNKS_PER_TURN === 0) ', 'if (false) ']]),
    ...rules(DOWNLOADS, DOWNLOADS_TEST, [
      ['downloads of one account', 'perAccount: max', 'perAccount: Infinity'],
    ]),
    ...rules(SPACE, SPACE_TEST, [['free disk space', 'if (this.isLow) throw diskFullError();', '']]),
    ...rules(KEYLESS, KEYLESS_TEST, [['requests without a key', ': count < perMinute', ': true']]),
    ...rules(KEYS, KEYS_TEST, [['a disabled account', ' && !accountDisabled', '']]),
    ...rules(BODY, SOURCE_TEST, [
      ['counted size', 'if (bytes > limit) return done(sourceTooLargeError(limit));', ''],
      ['counted after decompression', 'bytes += chunk.length;', 'bytes = response.socket.bytesRead;'],
      ['idle time', 'startArrivalTimer(idle, ', 'startArrivalTimer(1e9, '],
    ]),
    ...rules(BODY, SOURCE_FAULTS_TEST, [
      [
        'announced size',
        "if (Number(response.headers['content-length']) > limit) throw sourceTooLargeError(limit);",
        '',
      ],
    ]),
    ...rules(DECODE, SOURCE_FAULTS_TEST, [['piled encodings', 'encodings.length <= 2 && ', '']]),
    ...rules(REQUEST, SOURCE_TEST, [
      ['dialled as checked', '      lookup,\n', ''],
      ['connect time', 'startArrivalTimer(budgets.connect, ', 'startArrivalTimer(1e9, '],
      ['header time', 'startArrivalTimer(budgets.headers, ', 'startArrivalTimer(1e9, '],
      ['TLS with groups of the server', '      ...(secure && TLS_OPTIONS),\n', ''],
      ['loop header', "    'cdn-loop': CDN_LOOP,\n", ''],
      ['certificates', '      agent: false,\n', '      agent: false,\n      rejectUnauthorized: false,\n'],
    ]),
    ...rules(PROXY, PROXY_TEST, [
      [
        'the check',
        'checks.get(place) ?? check(url)',
        "checks.get(place) ?? Promise.resolve({ url, host: url.hostname.replace(/^\\[|\\]$/g, ''), port: Number(url.port), lookup: undefined } as never)",
      ],
      ['one check a host', 'checks.get(place) ?? ', ''],
      ['requests', 'if (requestCount > requests) exceed', 'if (asked < 0) exceed'],
      ['bytes', 'if (moved > bytes) exceed', 'if (moved < 0) exceed'],
      ['dialled as checked', '        lookup,\n', ''],
      ['loop header', ", 'cdn-loop': CDN_LOOP }", ' }'],
      ['its own headers', "  'proxy-authorization',\n", ''],
      ['plain http only', "if (url?.protocol !== 'http:')", 'if (!url)'],
      ['a host and a port only', '/^[^/?#@\\\\\\s]+$/.test(authority) ? ', 'authority ? '],
    ]),
    ...rules(
      'functions/engines/pdf/frame.ts',
      ['test/functions/engines/pdf/frame.test.ts'],
      [['page sides', 'if (!(Math.max(page.width, page.height) <= MAX_PIXELS))', 'if (false)']],
    ),
    ...rules(ENGINE, FAULTS_TEST, [
      ['orphans', '      await killOrphans(this.#home);\n', ''],
      ['core files', '\ndisableCoreDumps();\n', '\n'],
    ]),
    ...rules(CHILD, FAULTS_TEST, [['the end of the parent', '  endWithParent();\n', '']]),
    ...rules(CHILD, SURVIVORS_TEST, [
      ['the group after the parent', '  return endGroup();\n', '  process.exit(0);\n'],
    ]),
    ...rules(WORKSPACE, WORKSPACE_TEST, [
      ['links in a path', '    if (!isBelow(folder, dirname(path))) return false;\n', ''],
      ['outputs that were granted', ': outputs.includes(name)', ': true'],
      ['inputs of the conversion', 'if (!isName(name)) throw', 'if (false) throw'],
      ['the last link is not deleted', ' && stats.nlink > 1', ''],
      ['the folder is where it was', 'last !== undefined && isBelow(last, last)', 'last !== undefined'],
    ]),
    ...rules(OUTPUT, OUTPUT_TEST, [
      [
        'no link is written through',
        "  await rm(path, { force: true });\n  // Exclusive, so that it fails if anything exists at this path, even a dangling link.\n  return open(path, 'wx', 0o600);",
        "  return open(path, 'w', 0o600);",
      ],
      ['no link is read through', ' | O_NOFOLLOW', ''],
    ]),
    ...rules(SERVE, OWN_HOME_TEST, [
      ['a home of the browser', "join(process.cwd(), 'browser')", 'process.cwd()'],
    ]),
    ...rules(EXCESS, FAULTS_TEST, [
      ['memory', 'if (memory > limits.memory)', 'if (false)'],
      ['disk space', 'await worker.diskUsage()', 'await Promise.resolve(0)'],
      ['deleted files', ' + unlinked.disk', ''],
      ['threads', 'if (threads > limits.threads)', 'if (false)'],
    ]),
    ...rules('functions/engines/worker/linux/disk.ts', HIDDEN_TEST, [
      ['directories that cannot be listed', "['EACCES', 'ENAMETOOLONG']", "['ENAMETOOLONG']"],
      ['directories that are nested too deeply', "['EACCES', 'ENAMETOOLONG']", "['EACCES']"],
    ]),
    ...rules('functions/engines/worker/linux/remove.ts', HIDDEN_TEST, [
      ['files that cannot be deleted', '    await flatten(directory);\n', ''],
    ]),
    ...rules(
      'functions/engines/worker/workspace.ts',
      ['test/functions/engines/worker/workspace.engine.test.ts'],
      [['number of files', 'if (names.push(entry.name) > max) return undefined;', 'names.push(entry.name);']],
    ),
    ...rules(
      EXCESS,
      ['test/functions/engines/worker/pool.shared-memory.engine.test.ts'],
      [['shared memory', 'if (unlinked.memory > limits.memory * MIB)', 'if (false)']],
    ),
    ...rules(ENGINE, POOL_TEST, [
      ['environment', '...environment },', '...environment, ...process.env },'],
      ['answers to this request', 'this.#running.get(message.id)', '[...this.#running.values()].at(-1)'],
      ['home directories', 'await removeTree(this.#home', "await removeTree('/nowhere'"],
    ]),
    ...rules(
      ENGINE,
      ['test/functions/engines/worker/pool.faults.engine.test.ts', '-t', 'in another process'],
      [['a group of its own', 'detached: launcher === undefined', 'detached: false']],
    ),
    ...rules(
      ENGINE,
      ['test/functions/engines/worker/pool.faults.engine.test.ts', '-t', 'endless'],
      [['endless messages', 'if (this.#sent[what] > MAX_SENT[what]) ', 'if (false) ']],
    ),
    ...rules(POOL, POOL_TEST, [
      ['the deadline', 'untilAborted(stop, answered)', 'answered'],
      ['one owner', '(idle) => idle.account === account)', '() => true)'],
      ['recycling by count', 'worker.requests >= requests || ', ''],
      ['recycling by memory', ' || worker.memory > memory', ''],
    ]),
    ...rules(SESSION, BROWSER_TEST, [
      ['the proxy, for loopback too', "    proxyBypassList: '<-loopback>',\n", ''],
    ]),
    ...rules(FLAGS, BROWSER_FLAGS_TEST, [
      [
        'no datagrams by WebRTC',
        "  '--webrtc-ip-handling-policy=disable_non_proxied_udp',\n  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',\n",
        '',
      ],
      ['no look-ups', "  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',\n", ''],
      ['a proxy that is none', "  '--proxy-server=http://127.0.0.1:9',\n", ''],
      ['that proxy, for loopback too', "  '--proxy-bypass-list=<-loopback>',\n", ''],
      ['no QUIC', "  '--disable-quic',\n", ''],
    ]),
  ];
}
