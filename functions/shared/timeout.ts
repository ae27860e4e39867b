import type { ConversionError } from './errors.ts';

/**
 * Waits for work until milliseconds have passed; then throws, or goes on where no error is given. Seconds are counted,
 * not timed: a frozen function stands still while its clock runs on.
 */
export async function within<Value>(
  time: number,
  work: Promise<Value>,
  late: ConversionError,
): Promise<Value>;
export async function within<Value>(time: number, work: Promise<Value>): Promise<Value | undefined>;
export async function within<Value>(time: number, work: Promise<Value>, late?: ConversionError) {
  let timer: NodeJS.Timeout | undefined;
  let steps = Math.ceil(time / 1000);
  const end = new Promise<undefined>((resolve, reject) => {
    timer = setInterval(() => {
      steps -= 1;
      if (steps <= 0) late ? reject(late) : resolve(undefined);
    }, time / steps);
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    clearInterval(timer);
  }
}
