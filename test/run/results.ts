import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { textSetting } from '../../functions/shared/settings/environment.ts';

/** Result of a part of a run, such as a suite. */
export interface PartResult {
  readonly part: string;
  readonly passed: number;
  readonly failed: readonly Case[];
  readonly skipped: readonly Case[];
  /** Seconds that the part took. */
  readonly seconds?: number | undefined;
  /** Seconds that each test file took. */
  readonly files?: readonly FileTime[] | undefined;
}

interface FileTime {
  readonly file: string;
  readonly seconds: number;
}

/** A test with the reason why it failed or was skipped. */
export interface Case {
  readonly name: string;
  readonly reason?: string | undefined;
}

/** A command of `.ci/run` that has ended. It counts as failed if it timed out, or failed without a failure in one of its parts. */
interface CommandResult {
  readonly command: string;
  readonly status: number;
}

/** Exit statuses of a command that `timeout` has ended. */
const TIMEOUTS = [124, 137];

/** Environment variables that a run passes on to its parts: the file with the results, and the name of the part. */
export const RESULTS = 'TEST_RESULTS';
export const PART = 'TEST_PART';

/** Adds the result of this part to the results of the run. Does nothing if the part was started on its own. */
export function recordPart(result: Omit<PartResult, 'part'>): void {
  const file = textSetting(RESULTS, undefined);
  if (file !== undefined) record({ part: textSetting(PART, 'tests'), ...result }, file);
}

export function record(result: PartResult, file: string): void {
  appendFileSync(file, `${JSON.stringify(result)}\n`);
}

/** Returns the results that a file contains, those of commands included. */
export function readResults(file: string): PartResult[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').filter(Boolean) : [];
  const results: PartResult[] = [];
  let begin = 0;
  for (const line of lines) {
    const entry = JSON.parse(line) as PartResult | CommandResult;
    if ('part' in entry) {
      results.push(entry);
      continue;
    }
    const { command, status } = entry;
    const isTimeout = TIMEOUTS.includes(status);
    if (isTimeout || (status !== 0 && !hasFailures(results.slice(begin))))
      results.push({
        part: command,
        passed: 0,
        failed: [exitOf(command, isTimeout ? 'a timeout' : status)],
        skipped: [],
      });

    begin = results.length;
  }
  return results;
}

/** Describes a command that failed without saying which of its tests did. */
export function exitOf(command: string, status: number | string | null): Case {
  return { name: command, reason: `exited with ${status}` };
}

export function hasFailures(results: readonly PartResult[]): boolean {
  return results.some(({ failed }) => failed.length > 0);
}

/** Number of test files that a summary lists with their times. */
const MAX_LISTED = 20;

/** Lists the slowest files, and what failed and what was skipped with the reasons. The last line contains the totals. */
export function summarize(results: readonly PartResult[]): string {
  const parts = Map.groupBy(results, ({ part }) => part);
  const lines = [...parts].map(([part, own]) => `${part}: ${countsOf(own)}${timeOf(own)}`);
  const slowest = results
    .flatMap(({ files }) => files ?? [])
    .sort((one, other) => other.seconds - one.seconds)
    .slice(0, MAX_LISTED)
    .map(({ file, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${file}`);
  const failed = results.flatMap(({ part, failed }) => failed.map((each) => describe('FAILED', part, each)));
  const skipped = results.flatMap(({ part, skipped }) =>
    // Tests that were skipped for the same reason are one line.
    [...Map.groupBy(skipped, ({ name, reason }) => reason ?? name).values()].map(([first, ...others]) =>
      describe('SKIPPED', part, {
        ...first!,
        ...(others.length > 0 && { name: `${others.length + 1} tests` }),
      }),
    ),
  );
  return [...slowest, ...lines, ...skipped, ...failed, countsOf(results)].map((line) => `${line}\n`).join('');
}

function describe(mark: string, part: string, { name, reason }: Case): string {
  return `${mark} ${part}: ${name}${reason === undefined ? '' : `: ${reason.split('\n')[0]}`}`;
}

function timeOf(results: readonly PartResult[]): string {
  const seconds = results.reduce((total, result) => total + (result.seconds ?? 0), 0);
  return seconds > 0 ? `, ${Math.floor(seconds / 60)} min ${seconds % 60} s` : '';
}

function countsOf(results: readonly PartResult[]): string {
  const sum = (count: (result: PartResult) => number) =>
    results.reduce((total, result) => total + count(result), 0);
  const passed = sum((result) => result.passed);
  const failed = sum((result) => result.failed.length);
  return `${passed} passed, ${failed} failed, ${sum((result) => result.skipped.length)} skipped`;
}
