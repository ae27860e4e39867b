import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { watchMemory } from '../../measure/memory.ts';
import { type Driven, startDriven } from '../../peers/driven.ts';
import { runProgram } from '../../peers/peers.ts';
import type { Call } from '../../service/service.ts';
import { type Bench, compare, inDirectory, type Row } from '../row.ts';

const SCRIPT = join(import.meta.dirname, '../../peers/drive-office.py');

/** Office documents to PDF, compared with a process per file and with a suite that a script keeps running. */
export function measureOffice(bench: Bench): Promise<Row[]> {
  return withSuites(bench, (perFile, warm) =>
    compare(bench, 'office document to PDF', bench.inputs.documents, {
      ours: callOf(bench),
      peers: [
        { name: 'soffice', target: 0.07, run: perFile },
        ...(warm ? [{ name: 'soffice kept warm, over UNO', target: 0.85, run: warm.convert }] : []),
      ],
      seconds: bench.quick ? 6 : 60,
    }),
  );
}

/** Long documents, with a row for each, and the peak memory of our conversion. */
export function measureLarge(bench: Bench): Promise<Row[]> {
  return withSuites(bench, async (perFile, warm) => {
    const rows: Row[] = [];
    for (const { file, name } of bench.inputs.large) {
      const ours = callOf(bench);
      const peak = bench.wants(name) ? watchMemory(bench.service.pid, 'doc2any') : () => 0;
      const compared = await compare(bench, name, [file], {
        ours,
        peers: [
          { name: 'soffice', target: 0.8, run: perFile },
          ...(warm ? [{ name: 'soffice kept warm, over UNO', target: 1, run: warm.convert }] : []),
        ],
        seconds: bench.quick ? 1 : 45,
        probe: false,
      });
      const memory = peak();
      rows.push(
        ...compared.map((row) => ({ ...row, note: `${row.note}, ours at most ${memory.toFixed(0)} MiB` })),
      );
    }
    return rows;
  });
}

async function withSuites(
  bench: Bench,
  measure: (perFile: (file: string) => Promise<number>, warm: Driven | undefined) => Promise<Row[]>,
): Promise<Row[]> {
  const { soffice, uno } = bench.peers.found;
  const { directory } = bench;
  if (!soffice) return [];
  // One profile for all, because the time to create one would count for the peer.
  const profile = `-env:UserInstallation=${pathToFileURL(join(directory, 'profile'))}`;
  const perFile = (file: string) =>
    inDirectory(directory, async (out) => {
      const args = [profile, '--headless', '--convert-to', 'pdf', '--outdir', out, file];
      const { milliseconds, text } = await runProgram(soffice, args);
      if (!text.includes(' using filter ')) throw new Error(text);
      return milliseconds;
    });
  const warm = uno ? await startSuite(bench) : undefined;
  try {
    return await measure(perFile, warm);
  } finally {
    await warm?.close();
  }
}

/** Starts an office suite that stays running, driven over UNO. */
export function startSuite({ peers, directory }: Bench): Promise<Driven> {
  const { uno = '', soffice = '' } = peers.found;
  return startDriven(uno, [SCRIPT, soffice, join(directory, 'uno.pdf')], { onlyPasses: true });
}

function callOf({ urlOf }: Bench) {
  return (file: string): Call => ({ app: 'doc2any', infile: urlOf(file), outfile: 'document.pdf' });
}
