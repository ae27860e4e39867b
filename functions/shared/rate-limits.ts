/** Limits of an account. If one is absent, the deployment's default applies. */
export interface RateLimits {
  /** Maximum calls per minute. */
  readonly perMinute?: number;
  /** Maximum conversions per calendar month (UTC). */
  readonly perMonth?: number;
  /** Maximum concurrent calls. */
  readonly concurrent?: number;
}
