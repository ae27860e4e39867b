/** Returns options of Node that send the command a signal once its ledger has rows: from outside, it could come too late. */
export function signalAfter(rows: number, ledger: string, signal: NodeJS.Signals): string[] {
  const script = `import { existsSync, readFileSync } from 'node:fs';
    const ledger = ${JSON.stringify(ledger)};
    const timer = setInterval(() => {
      if (!existsSync(ledger) || readFileSync(ledger, 'utf8').split('\\n').length <= ${rows}) return;
      clearInterval(timer);
      process.kill(process.pid, '${signal}');
    }, 1).unref();`;
  return ['--import', `data:text/javascript,${encodeURIComponent(script)}`];
}
