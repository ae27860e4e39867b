import { ConversionError } from '../errors.ts';

/** Collects the caller's mistakes, so that one response can name all of them. */
export interface Issues {
  readonly all: readonly ConversionError[];
  add(issue: ConversionError): void;
  /**
   * Returns the result of `read`. If it throws, collects its mistakes as mistakes in `parameter` and returns
   * `undefined`.
   */
  attempt<Value>(read: () => Value, parameter?: string): Value | undefined;
  /**
   * Throws one error with the messages of the first 20 issues and the code of the first. Does nothing if there are
   * none.
   */
  throwAll(): void;
}

/** Maximum number of issues in one response. */
export const MAX_SHOWN = 20;

/** Creates an empty collection. */
export function createIssues(): Issues {
  const all: ConversionError[] = [];
  return {
    all,
    add: (issue) => all.push(issue),
    attempt: (read, parameter) => {
      try {
        return read();
      } catch (thrown) {
        if (!(thrown instanceof ConversionError)) throw thrown;
        const own = thrown.issues ?? [thrown];
        all.push(...own.map((issue) => (parameter === undefined ? issue : issue.about(parameter))));
        return undefined;
      }
    },
    throwAll: () => {
      const [first] = all;
      if (!first) return;
      const messages = all.slice(0, MAX_SHOWN).map(({ message }) => message);
      const more = all.length - messages.length;
      const rest = more === 0 ? [] : [`There ${more === 1 ? 'is 1 more error' : `are ${more} more errors`}.`];
      throw new ConversionError(first.code, [...messages, ...rest].join(' '), { issues: all });
    },
  };
}
