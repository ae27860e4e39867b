import { describe, expect, it } from 'vitest';
import { jsonLog, describe as tell } from '../../../functions/shared/log.ts';

describe('the log', () => {
  it('writes one line of JSON per event', () => {
    const lines: string[] = [];

    jsonLog((line) => lines.push(line))('converted', { tool: 'pdftools', text: 'a\nb' });

    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain('\n');
    expect(JSON.parse(lines[0]!)).toMatchObject({ event: 'converted', tool: 'pdftools', text: 'a\nb' });
  });

  it('describes the chain of causes', () => {
    const thrown = new Error('outer', { cause: new TypeError('inner', { cause: 'core' }) });

    expect(tell(thrown)).toBe('Error: outer < TypeError: inner < core');
  });

  it('removes the query of URLs, which may contain a signature or a key', () => {
    const thrown = new Error(
      "fetch 'https://x.example/a?apikey=SECRET&b=1' failed, http://y.example/?t=SECRET",
    );

    expect(tell(thrown)).toBe("Error: fetch 'https://x.example/a?…' failed, http://y.example/?…");
  });

  it('ends for anything that was thrown', () => {
    const circular = new Error('round');
    circular.cause = circular;

    expect(tell(circular)).toBe(Array.from({ length: 5 }, () => 'Error: round').join(' < '));
    expect(tell('x'.repeat(10_000))).toHaveLength(2000);
  });
});
