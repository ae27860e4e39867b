import type { Environment } from 'vitest/runtime';

/** Closes what the test files of a vitest worker share. */
type Close = () => Promise<unknown>;

declare global {
  var closeWithWorker: Close[] | undefined;
}

/** The environment of test files that run in one process, one after the other, and share engines. */
export default {
  name: 'worker',
  viteEnvironment: 'ssr',
  setup: () => {
    const closes: Close[] = [];
    globalThis.closeWithWorker = closes;
    return { teardown: async () => void (await Promise.all(closes.map((close) => close()))) };
  },
} satisfies Environment;
