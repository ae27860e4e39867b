import type { ConversionError } from '../errors.ts';

/** Waits for work until a time is up; then throws, or goes on where no error is given. */
export async function within<Value>(
  time: number,
  work: Promise<Value>,
  late: ConversionError,
): Promise<Value>;
export async function within<Value>(time: number, work: Promise<Value>): Promise<Value | undefined>;
export async function within<Value>(time: number, work: Promise<Value>, late?: ConversionError) {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<undefined>((resolve, reject) => {
    timer = setTimeout(() => (late ? reject(late) : resolve(undefined)), time);
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
  }
}
