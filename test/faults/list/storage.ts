import { inFile } from '../list.ts';

/** Faults in how one machine stores results, uploads and records, and in what it deletes. */
export const storage = [
  ...inFile('functions/platform/local/disk-storage.ts', [
    ['expires <= performance.now() || ', ''],
    ['/[/\\\\\\0]|^\\.\\.?$/.test(file.name)', '/[\\\\\\0]|^\\.\\.?$/.test(file.name)'],
    ['Number(expires) * 1000 <= Date.now()', 'Number(expires) * 1e6 <= Date.now()'],
    ['if (isOwn) await rm(part, { force: true });', 'if (!isOwn) await rm(part, { force: true });'],
    ['if (existsSync(place)) throw usedFormError();', ''],
    ['name.startsWith(MARK) ? shortAge : age', 'name.startsWith(MARK) ? age : shortAge'],
    [
      "same(fields.get('signature'), sign('form', policy))",
      "same(fields.get('signature') ?? sign('form', policy), sign('form', policy))",
    ],
  ]),
  ...inFile('functions/platform/local/disk-space.ts', [
    ['total + bytes <= this.#max', 'total <= this.#max + bytes'],
  ]),
  ...inFile('functions/platform/local/disk-space.ts', [
    [
      'if (this.isLow) throw diskFullError(this.free());',
      'if (this.status === undefined) throw diskFullError();',
    ],
  ]),
  ...inFile('functions/platform/local/database.ts', [['chmodSync(file, 0o600)', 'chmodSync(file, 0o644)']]),
  ...inFile('infra/local/operation/upkeep.ts', [['Math.min(HOUR, resultLife)', 'resultLife']]),
  ...inFile('infra/local/server/http/signed-url.ts', [
    ['secret.length === BYTES ? secret', 'secret.length > 0 ? secret'],
  ]),
];
