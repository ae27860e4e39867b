import type { SerializedError } from 'vitest';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { type Case, recordPart } from './results.ts';

/** Ends the title of tests that are skipped where something is missing: `(needs qpdf)`. */
const NEEDS = /\((needs [^)]+)\)/;

/** Records the result of a vitest run for the summary of the whole run. */
export const resultsReporter: Reporter = {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]) {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const ended = (state: string) => tests.filter((test) => test.result().state === state);
    // A module that cannot be imported has no tests.
    const broken = modules.filter((module) => module.errors().length > 0);
    recordPart({
      passed: ended('passed').length,
      failed: [
        ...ended('failed').map(failureOf),
        ...broken.map((module) => ({ name: module.moduleId, reason: module.errors()[0]?.message })),
        ...unhandled.map(({ message }) => ({ name: 'unhandled error', reason: firstLine(message) })),
      ],
      skipped: [...ended('skipped'), ...ended('pending')].map(skipOf),
      files: modules.map((module) => ({ file: module.relativeModuleId, seconds: secondsOf(module) })),
    });
  },
};

/** Returns the time of a test file with its imports and hooks. */
function secondsOf(module: TestModule): number {
  const { collectDuration, setupDuration, duration } = module.diagnostic();
  return (collectDuration + setupDuration + duration) / 1000;
}

function failureOf(test: TestCase): Case {
  return { name: nameOf(test), reason: firstLine(test.result().errors?.[0]?.message) };
}

function skipOf(test: TestCase): Case {
  const result = test.result();
  const note = result.state === 'skipped' ? result.note : undefined;
  return { name: nameOf(test), reason: note ?? NEEDS.exec(test.fullName)?.[1] };
}

function nameOf(test: TestCase): string {
  return `${test.module.relativeModuleId} > ${test.fullName}`;
}

function firstLine(text: string | undefined): string | undefined {
  return text?.split('\n')[0];
}
