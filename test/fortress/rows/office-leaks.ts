import { spawnSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attackOffice, convertUnprotected } from '../attacked-office.ts';
import { celled } from '../cell.ts';
import { PIXEL, type Target } from '../office/archive.ts';
import { ODF_LEAKS } from '../office/odf.ts';
import { OOXML_LEAKS } from '../office/ooxml.ts';
import { TEXT_LEAKS } from '../office/texts.ts';
import { type Effort, inParallel, type Reached } from '../row.ts';
import { layTripwires, PRIZE_PORT, RUNTIME_PORT } from '../tripwires.ts';

/** Documents that point to the network and to files of the machine; each goes to doc2any, and to its LibreOffice unchecked. */
export const officeLeaks = celled(
  {
    name: 'office-leaks',
    title: 'office leak files × targets, connects / foreign files opened',
    target: '≥ 50, 0 / 0',
  },
  import.meta.url,
);

const FILES = [...OOXML_LEAKS, ...ODF_LEAKS, ...TEXT_LEAKS];

export async function inside({ times, progress }: Effort): Promise<Reached> {
  const whole = times(1, 0) === 1;
  const secrets = laySecrets();
  const targets: Target[] = [
    { url: `http://127.0.0.1:${PRIZE_PORT}/x.png`, path: '\\\\127.0.0.1\\share\\x.png' },
    { url: `file://${secrets.path}`, path: secrets.path },
    {
      url: `http://169.254.100.1:${RUNTIME_PORT}/2018-06-01/runtime/invocation/next`,
      path: '\\\\169.254.100.1\\x',
    },
  ];
  const wires = await layTripwires();
  const office = await attackOffice();
  const attacks = FILES.flatMap((file, index) =>
    targets
      .filter((_, target) => whole || target === index % 2)
      .flatMap((target) => [true, false].map((unchecked) => ({ file, target, unchecked })))
      .filter(({ unchecked }) => whole || unchecked === index % 4 < 2),
  );
  const failures: string[] = [];
  const outcomes = new Map<string, number>();
  let done = 0;
  await inParallel(attacks, 2, async ({ file, target, unchecked }) => {
    const outcome = await office.convert({ file, bytes: await file.bytes(target) }, unchecked);
    const name = `${file.name}${unchecked ? ', unchecked' : ''} → ${target.url}`;
    if (outcome.startsWith('fault')) failures.push(`${name}: ${outcome}`);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    progress(++done, attacks.length);
  });
  await office.close();
  const { tcp, udp, dns, runtime } = wires.hits();
  const opened = secrets.opened();
  if (tcp + udp + dns > 0) failures.push(`${tcp} connections, ${udp} datagrams`, ...new Set(wires.asked));
  if (opened) failures.push('a file of the machine was read');

  const live = whole ? await countLive() : undefined;
  if (live !== undefined && live < 10)
    failures.push(`only ${live} files are live in an unprotected LibreOffice`);
  await wires.close();
  const counted = `${FILES.length} (${attacks.length} conversions), ${tcp + udp} / ${opened ? 1 : 0}, Runtime API ${runtime}`;
  return { figure: live === undefined ? counted : `${counted}; ${live} live without our walls`, failures };

  /** How many of the files do reach out when LibreOffice is let. */
  async function countLive(): Promise<number> {
    const [network, local] = targets as [Target, Target];
    let count = 0;
    for (const file of FILES) {
      const before = wires.hits().tcp;
      await convertUnprotected({ file, bytes: await file.bytes(network) });
      let reached = wires.hits().tcp > before;
      if (!reached) {
        secrets.forget();
        await convertUnprotected({ file, bytes: await file.bytes(local) });
        reached = secrets.opened();
      }
      if (reached) count += 1;
      progress(++done, attacks.length + FILES.length);
    }
    return count;
  }
}

/** A picture on a file system that notes every reading: its time of access tells. */
function laySecrets() {
  const directory = join(tmpdir(), 'secrets');
  mkdirSync(directory);
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'strictatime', 'tmpfs', directory]);
  if (status !== 0) throw new Error('The file system that notes every reading could not be mounted.');
  const path = join(directory, 'secret.png');
  writeFileSync(path, PIXEL);
  let seen = statSync(path).atimeMs;
  return {
    path,
    opened: () => statSync(path).atimeMs !== seen,
    forget: () => {
      seen = statSync(path).atimeMs;
    },
  };
}
