import { spawnSync } from 'node:child_process';
import { mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inParallel } from '../../../../layers/build/command.ts';
import { PIXEL, type Target } from '../../attacks/office/archive.ts';
import { LEAK_FILES } from '../../attacks/office/leaks.ts';
import { LAYERS } from '../../deployment/layers.ts';
import { convertUnprotected } from '../../deployment/office.ts';
import { inOwnNamespace } from '../../namespace/run.ts';
import { PRIZE_PORT, RUNTIME_PORT } from '../../namespace/tripwires.ts';
import { amount, type Effort, type Reached } from '../../row.ts';

/**
 * Documents with references to the network and to files of the machine. Each goes to doc2any, and to its LibreOffice
 * unchecked.
 */
export const officeLeaks = inOwnNamespace(
  {
    name: 'office-leaks',
    title: 'office documents with external references',
    figures: 'connections / files opened',
    target: '≥ 50, 0 / 0',
  },
  import.meta.url,
);

export async function inside(effort: Effort): Promise<Reached> {
  const { progress, canary, deployment } = effort;
  const step = amount(effort, 1, { short: 16 });
  const whole = step === 1;
  const { opensOffice } = deployment;
  const secrets = laySecrets();
  const secret = secrets.lay('secret.png');
  const targets: Target[] = [
    { url: `http://127.0.0.1:${PRIZE_PORT}/x.png`, path: '\\\\127.0.0.1\\share\\x.png' },
    { url: `file://${secret.path}`, path: secret.path },
    {
      url: `http://169.254.100.1:${RUNTIME_PORT}${NEXT}`,
      path: '\\\\169.254.100.1\\x',
    },
  ];
  const wires = await deployment.layTripwires();
  const office = await deployment.attackOffice(canary);
  const runtimeApis = office.runtimeApis();
  targets.push(...runtimeApis.map((host) => ({ url: `http://${host}${NEXT}`, path: `\\\\${host}\\x` })));
  // The short extent has one target for each file.
  const files = LEAK_FILES.filter((_, index) => index % step === 0);
  const attacks = files.flatMap((file, index) =>
    targets
      .filter((_, target) => whole || target === index % 2)
      .flatMap((target) => [true, false].map((unchecked) => ({ file, target, unchecked })))
      .filter(({ unchecked }) => opensOffice || !unchecked),
  );
  const failures: string[] = [];
  let done = 0;
  await inParallel(attacks, 2, async ({ file, target, unchecked }) => {
    const outcome = await office.convert({ file, bytes: await file.bytes(target) }, unchecked);
    const name = `${file.name}${unchecked ? ', unchecked' : ''} → ${target.url}`;
    if (outcome.startsWith('fault')) failures.push(`${name}: ${outcome}`);
    progress(++done, attacks.length);
  });
  await office.close();
  const { tcp, udp, dns, runtime: standIns } = wires.hits();
  const visitors = office.visitors();
  const runtime = standIns + visitors;
  if (visitors > 0) failures.push(`${visitors} connections to the Runtime API of a sandbox`);
  const opened = secret.opened();
  if (tcp + udp + dns > 0) failures.push(`${tcp} connections, ${udp} datagrams`, ...new Set(wires.asked));
  if (opened) failures.push('a file of the machine was read');

  const live = whole && opensOffice ? await countLive() : undefined;
  if (live !== undefined && live < 10) failures.push(`only ${live} files work in an unprotected LibreOffice`);
  await wires.close();
  const counted = `${files.length} (${attacks.length} conversions), ${tcp + udp} / ${opensOffice ? Number(opened) : 'not looked for'}, Runtime API ${runtime}`;
  return { figure: live === undefined ? counted : `${counted}; ${live} work without protection`, failures };

  /** Number of files that access their target in an unprotected LibreOffice. Each has its own target. */
  async function countLive(): Promise<number> {
    const locals = LEAK_FILES.map((_, index) => secrets.lay(`${index}.png`));
    const towards = [
      (index: number) => ({ url: `http://127.0.0.1:${PRIZE_PORT}/live-${index}`, path: '\\\\127.0.0.1\\x' }),
      (index: number) => ({ url: `file://${locals[index]!.path}`, path: locals[index]!.path }),
    ];
    const indices = LEAK_FILES.map((_, index) => index);
    const batches = towards.flatMap((target) =>
      indices.flatMap((first) =>
        first % BATCH === 0 ? [{ target, some: indices.slice(first, first + BATCH) }] : [],
      ),
    );
    await inParallel(batches, 2, async ({ target, some }, index) => {
      const samples = some.map(async (each) => ({
        file: LEAK_FILES[each]!,
        bytes: await LEAK_FILES[each]!.bytes(target(each)),
      }));
      await convertUnprotected(LAYERS, await Promise.all(samples));
      progress(attacks.length + index, attacks.length + batches.length);
    });
    const asked = new Set(wires.asked.map((line) => /\/live-(\d+)$/.exec(line)?.[1]));
    return indices.filter((index) => asked.has(String(index)) || locals[index]!.opened()).length;
  }
}

const NEXT = '/2018-06-01/runtime/invocation/next';
/** Number of documents per unprotected LibreOffice, which may hang on one of them and block the others. */
const BATCH = 5;

/** Images on a file system that records every access in the access time. */
function laySecrets() {
  const directory = mkdtempSync(join(tmpdir(), 'secrets-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'strictatime', 'tmpfs', directory]);
  if (status !== 0) throw new Error('The file system that records every access could not be mounted.');
  const lay = (name: string) => {
    const path = join(directory, name);
    writeFileSync(path, PIXEL);
    const laid = statSync(path).atimeMs;
    return { path, opened: () => statSync(path).atimeMs !== laid };
  };
  return { lay };
}
