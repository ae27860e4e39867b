// `npm run lab` runs everything that searches, repeats, compares or measures, in one run with one report. The machine should do nothing
// else. `--only=PART,…` chooses parts, `--list` prints them. Every part must pass before a release.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Parts, ROOT, runParts, VITEST } from './parts.ts';
import { chooseNames, readArguments } from './report.ts';

const { values, fail } = readArguments(
  'npm run lab -- [--list] [--only=PART,…] [--corpus=DIR] [--hour=MINUTES] [--fuzz=SECONDS]',
  {
    list: { type: 'boolean', default: false },
    only: { type: 'string' },
    corpus: { type: 'string', default: join(ROOT, '../shared/corpus') },
    hour: { type: 'string', default: '60' },
    fuzz: { type: 'string', default: '600' },
  },
);

const EMULATOR = ['node', 'test/lambda-emulator/main.ts'];
const EMULATED = ['vitest', 'run', '--config', 'test/emulated/vitest.config.ts'];

const PARTS: Parts = {
  tests: [...VITEST, '--project', 'lab'],
  attacks: ['node', 'test/security/main.ts'],
  'attacks-aws': ['node', 'test/security/main.ts', '--aws'],
  hour: ['node', 'test/security/hour/main.ts', '--minutes', values.hour],
  'service-aws': [...EMULATOR, '--', ...VITEST, 'test/service'],
  emulator: [...EMULATOR, '--inside', '--', ...EMULATED],
  fuzz: ['node', 'test/sanitizers/fuzz.ts', '--seconds', values.fuzz],
  faults: ['node', 'test/faults/main.ts'],
  newcomer: ['node', 'test/run/newcomer.ts'],
  corpus: ['node', 'test/corpus/main.ts', '--fresh', values.corpus],
  bench: ['node', 'test/bench/main.ts'],
  // The other subjects need documents of one's own: npm run likeness.
  likeness: ['node', 'test/likeness/main.ts', 'web'],
};

if (values.list) {
  for (const [name, command] of Object.entries(PARTS))
    process.stdout.write(`${name}: ${command.join(' ')}\n`);
  process.exit(0);
}
const names = chooseNames(Object.keys(PARTS), values.only?.split(',') ?? [], fail);
if (names.includes('corpus') && !existsSync(values.corpus)) {
  if (values.only !== undefined) fail(`There is no folder ${values.corpus}.`);
  process.stderr.write('Without a folder for --corpus, the part corpus is left out.\n');
}
const chosen = Object.entries(PARTS).filter(
  ([name]) => names.includes(name) && (name !== 'corpus' || existsSync(values.corpus)),
);
await runParts(Object.fromEntries(chosen));
