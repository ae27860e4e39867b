import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runProgram } from '../../peers/peers.ts';
import { startUno } from '../../peers/uno.ts';
import { type Bench, compare, inDirectory, type Row } from '../row.ts';

/** Office documents to PDF, compared with a process per file and with a suite that a script keeps running. */
export async function measureOffice(bench: Bench): Promise<Row[]> {
  const { found } = bench.peers;
  const { inputs, quick, urlOf, directory } = bench;
  if (!bench.tools.has('doc2any') || !found.soffice) return [];
  // One profile for all, because the time to create one would count for the peer.
  const profile = `-env:UserInstallation=${pathToFileURL(join(directory, 'profile'))}`;
  const perFile = (file: string) =>
    inDirectory(directory, async (out) => {
      const args = [profile, '--headless', '--convert-to', 'pdf', '--outdir', out, file];
      const { milliseconds, text } = await runProgram(found.soffice!, args);
      if (!text.includes(' using filter ')) throw new Error(text);
      return milliseconds;
    });
  const uno = found.uno ? await startUno(found.uno, found.soffice, join(directory, 'uno.pdf')) : undefined;
  try {
    return await compare(bench, 'office document to PDF', inputs.documents, {
      ours: (file) => ({ app: 'doc2any', infile: urlOf(file), outfile: 'document.pdf' }),
      peers: [
        { name: 'soffice', target: 0.15, run: perFile },
        ...(uno ? [{ name: 'soffice kept warm, over UNO', target: 1, run: uno.convert }] : []),
      ],
      seconds: quick ? 6 : 60,
    });
  } finally {
    await uno?.close();
  }
}
