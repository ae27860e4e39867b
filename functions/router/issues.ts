import { ConversionError } from '../shared/errors.ts';

/** Collects what a caller did wrong, so that one answer names all of it. */
export interface Faults {
  readonly all: readonly ConversionError[];
  add(fault: ConversionError): void;
  /** Answers what `read` answers; its `ConversionError` is collected, and nothing answered. */
  attempt<Value>(read: () => Value): Value | undefined;
}

/** Starts with no fault. */
export function createIssues(): Faults {
  const all: ConversionError[] = [];
  return {
    all,
    add: (fault) => all.push(fault),
    attempt: (read) => {
      try {
        return read();
      } catch (thrown) {
        if (!(thrown instanceof ConversionError)) throw thrown;
        all.push(thrown);
        return undefined;
      }
    },
  };
}
