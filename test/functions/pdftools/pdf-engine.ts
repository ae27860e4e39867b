import { createPdfPrograms } from '../../../functions/engines/pdf/pdf.ts';
import { createPdfEngine } from '../../../functions/engines/pdf/pdf-engine.ts';
import type { Fallback } from '../../../functions/engines/pdf/pdfjs/fallback.ts';
import type { StallTimeouts } from '../../../functions/engines/worker/pool.ts';
import type { pdftools } from '../../../functions/pdftools/tool.ts';
import type { Engine, EngineDependencies } from '../../../functions/shared/tool.ts';

/** Creates the part of pdftools that draws pages. */
export function createDrawingEngine(
  dependencies: EngineDependencies,
  fallback?: Fallback,
  times?: StallTimeouts,
): Engine<typeof pdftools> {
  const programs = createPdfPrograms(dependencies, times);
  const { convert } = createPdfEngine(programs, dependencies, fallback);
  const close = async () => {
    await Promise.all([programs.close(), fallback?.close()]);
  };
  return { convert, close };
}
