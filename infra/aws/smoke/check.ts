/** A check and its outcome. */
export interface Check {
  readonly title: string;
  readonly passed: boolean;
  readonly seen: string;
  readonly milliseconds: number;
}

/** Returns the URL of conversions for a base URL, with or without a trailing `/api/`. */
export function endpointOf(base: string): string {
  return `${base.replace(/\/+$/, '').replace(/\/api$/, '')}/api/`;
}

/** Runs one check. If it throws, the error is its outcome. */
export async function timed(
  title: string,
  run: () => Promise<{ passed: boolean; seen: string }>,
): Promise<Check> {
  const started = performance.now();
  const outcome = await run().catch((thrown: unknown) => ({ passed: false, seen: String(thrown) }));
  const { passed, seen } = outcome;
  return { title, passed, seen, milliseconds: Math.round(performance.now() - started) };
}
