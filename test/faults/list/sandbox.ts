import { inFile } from '../list.ts';

/** Faults in the sandbox, in the limits of engines, and in what separates accounts. */
export const sandbox = [
  ...inFile(
    'layers/sandbox/sandbox.c',
    [
      ['DENY(socket), ', ''],
      ['START(sandbox->start), ', ''],
      ['ONLY_WITH(kill, 0, getpid()), ', ''],
      [
        'allow(&rules, sandbox->readable, READ | LIST)',
        'allow(&rules, sandbox->readable, READ | LIST | CHANGE)',
      ],
    ],
    'test/layers/sandbox/sandbox.engine',
  ),
  ...inFile('layers/sandbox/denied.h', [['MISSING(openat2), ', '']], 'test/layers/sandbox/sandbox.engine'),
  ...inFile(
    'layers/chromium/sandbox/browser_sandbox.c',
    [['~SPECIAL_FILES & ', '']],
    'test/layers/chromium/sandbox.engine',
  ),
  ...inFile(
    'functions/engines/worker/process.ts',
    [
      ["LANG: 'C.UTF-8', ...environment },", "LANG: 'C.UTF-8', ...environment, ...process.env },"],
      ['this.#running.get(message.id)', '[...this.#running.values()].at(-1)'],
      ['await removeTree(this.#home)', "await removeTree('/nowhere')"],
    ],
    'test/functions/engines/worker/pool.engine',
    'test/functions/engines/worker/pool.faults',
  ),
  ...inFile(
    'functions/engines/worker/process.ts',
    [
      ['      await killOrphans(this.#home);\n', ''],
      ['this.#sent[what] > MAX_SENT[what]', 'this.#sent[what] > 1000 * MAX_SENT[what]'],
      ['detached: launcher === undefined', 'detached: false'],
    ],
    'test/functions/engines/worker/pool.faults',
    'test/functions/engines/worker/pool.engine',
  ),
  ...inFile(
    'functions/engines/worker/serve.ts',
    [['  endWithParent();\n  send(', '  send(']],
    'test/functions/engines/worker/pool.faults',
    'test/functions/engines/worker/pool.engine',
    'test/functions/engines/chromium/browser/serve.',
  ),
  ...inFile(
    'functions/engines/worker/excess.ts',
    [
      ['memory > limits.memory)', 'memory > 100 * limits.memory)'],
      ['disk + unlinked.disk', 'disk'],
    ],
    'test/functions/engines/worker/pool.faults',
    'test/functions/engines/worker/pool.engine',
  ),
  ...inFile('functions/engines/worker/workspace.ts', [
    ['if (!isBelow(folder, dirname(path))) return false;', ''],
    [': outputs.includes(name)', ': outputs.length > 0'],
  ]),
  ...inFile(
    'functions/engines/worker/pool.ts',
    [
      ['(idle) => idle.account === account)', '() => true)'],
      ['if (stop.aborted) worker.kill();', ''],
    ],
    'test/functions/engines/worker/pool.engine',
    'test/functions/engines/worker/pool.faults',
  ),
  ...inFile('functions/engines/worker/sandbox.ts', [
    ["mode: SandboxMode = 'required'", "mode: SandboxMode = 'best-effort'"],
  ]),
  ...inFile(
    'functions/engines/chromium/browser/flags.ts',
    [["  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',\n", '']],
    'test/security/security.service -t browser-flags',
  ),
  ...inFile(
    'functions/engines/chromium/page/open-session.ts',
    [["    proxyBypassList: '<-loopback>',\n", '']],
    'test/security/security.service -t browser-leaks',
  ),
  ...inFile(
    'functions/engines/chromium/browser-pool.ts',
    [['uploaded !== undefined && !options.network', 'uploaded !== undefined && options.network']],
    'test/service/uploaded-pages',
    'test/security/security.service -t uploaded-leaks',
  ),
  ...inFile(
    'functions/engines/chromium/browser-pool.ts',
    [['isPrivate ? networkOfUpload(egress) : egress', 'isPrivate ? networkOfUpload(egress, hosts) : egress']],
    'test/functions/html2pdf/convert.options',
  ),
  ...inFile(
    'functions/engines/office/host.ts',
    [["'BlockUntrustedRefererLinks', true", "'BlockUntrustedRefererLinks', false"]],
    'test/functions/doc2any/convert.leaks',
  ),
];
