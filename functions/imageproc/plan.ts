import { sharpEncodes } from './encode/options.ts';
import type { ImageFormat } from './formats.ts';
import { engineOf } from './operators/engine.ts';
import { type Operation, type OperatorName, operatorsOf } from './options/steps.ts';
import type { ImageprocOptions } from './request.ts';

/** Consecutive operators that one engine runs. */
interface Part {
  readonly engine: 'sharp' | 'magick';
  readonly operations: readonly Operation[];
}

/** Operators of ImageMagick that need all frames together. */
const LISTS: ReadonlySet<OperatorName> = new Set([
  ...(['-coalesce', '-layers', '-reverse', '-smush', '+smush', '-swap', '-insert', '-delete'] as const),
  ...(['-duplicate', '-morph', '-evaluate-sequence', '-mosaic', '-combine', '-append', '+append'] as const),
]);

/** Whether an operator joins, orders or compares all frames of a source. */
export function needsAllFrames({ operator, value }: Operation): boolean {
  return LISTS.has(operator) && !(/^[-+]append/.test(operator) && value.length > 1);
}

/**
 * Divides a conversion between the engines. The first part runs in sharp, which decodes the source. Each part takes
 * as many operators as it can, and the last one writes the result.
 */
export function planOf(options: ImageprocOptions, format: ImageFormat): readonly Part[] {
  const parts: { engine: Part['engine']; operations: Operation[] }[] = [{ engine: 'sharp', operations: [] }];
  const last = () => parts.at(-1)!;
  const begin = (engine: Part['engine']) => {
    if (last().engine !== engine) parts.push({ engine, operations: [] });
  };
  for (const operation of operatorsOf(options.steps)) {
    const engine = engineOf(operation);
    if (engine !== 'both') begin(engine);
    last().operations.push(operation);
  }
  // Both engines write frames, which the worker puts into the PDF.
  if (format === 'pdf') return parts;
  if (!sharpEncodes(format, options)) begin('magick');
  if (format === 'avif') begin('sharp');
  return parts;
}
