import type { FleetPoint } from '../fleet/simulate.ts';
import { align, short } from './table.ts';

/** Formats the simulated deployment as text columns. */
export function writeFleetTable(points: readonly FleetPoint[]): string {
  const head = ['calls an hour', 'p50', 'p95', 'p99', 'cold', 'sandboxes', 'refused', '$ per 1000'];
  const lines = points.map((point) => [
    point.callsPerHour.toLocaleString('en'),
    ...[point.p50, point.p95, point.p99].map((milliseconds) => `${Math.round(milliseconds)} ms`),
    `${short(100 * point.coldShare)} %`,
    String(point.sandboxes),
    `${short(100 * point.refusedShare)} %`,
    point.per1000.toFixed(3),
  ]);
  return align([head, ...lines], () => true);
}
