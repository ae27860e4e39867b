import { afterEach, expect, it } from 'vitest';
import { createEngine as doc2any } from '../../../../functions/doc2any/convert.ts';
import { EngineState, observeAll } from '../../../../functions/engines/worker/observer.ts';
import { createEngine as html2image } from '../../../../functions/html2image/convert.ts';
import { createEngine as html2pdf } from '../../../../functions/html2pdf/convert.ts';
import { createEngine as imageproc } from '../../../../functions/imageproc/convert.ts';
import { createEngine as pdftools } from '../../../../functions/pdftools/convert.ts';
import type { CreateEngine, Tool } from '../../../../functions/shared/tool.ts';
import type { StartedPool } from '../../../../functions/shared/warm-workers.ts';
import * as tools from '../../../../functions/tools.ts';
import { pdfOf } from '../../../fixtures/pdf.ts';
import { type Asked, type StartedEngine, startEngine } from '../../../lab/engine.ts';

const SAMPLES = 'infra/local/self-check/samples';

/** Returns a PDF with an image that is worth reducing. */
function pdfWithImage(): Buffer {
  const stream = (entries: string, data: string) =>
    `<<${entries}/Length ${data.length}>>\nstream\n${data}\nendstream`;
  return pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>>>',
    stream('', 'q 100 0 0 100 0 0 cm /I Do Q'),
    stream(
      '/Subtype/Image/Width 300/Height 300/BitsPerComponent 8/ColorSpace/DeviceGray',
      'ab'.repeat(45_000),
    ),
  ]);
}

let engine: StartedEngine | undefined;
afterEach(async () => engine?.close());

interface Row {
  readonly tool: Tool;
  readonly create: CreateEngine<never>;
  /** Conversions that start all pools that report their state. */
  readonly source?: string | Buffer;
  readonly calls?: readonly Asked[];
  readonly pools: number;
}

const ROWS: readonly Row[] = [
  {
    tool: tools.pdftools,
    create: pdftools,
    source: pdfWithImage(),
    calls: [{ format: 'png' }, { format: 'pdf', options: '-watermark=X -optimize=72' }],
    pools: 4,
  },
  {
    tool: tools.imageproc,
    create: imageproc,
    source: `${SAMPLES}/picture.png`,
    calls: [{ format: 'jpg' }, { format: 'jpg', options: '-charcoal=1' }],
    pools: 2,
  },
  {
    tool: tools.doc2any,
    create: doc2any,
    source: `${SAMPLES}/letter.docx`,
    calls: [{ format: 'pdf', options: '--pdf-version=PDF/A-2b' }, { format: 'png' }, { format: 'odt' }],
    pools: 6,
  },
  { tool: tools.html2pdf, create: html2pdf, pools: 1 },
  { tool: tools.html2image, create: html2image, pools: 1 },
];

it.each(ROWS)(
  'recovers without a call after a start failed in any of the $pools pools of $tool.name',
  async (row) => {
    const { tool, create, source, calls = [], pools: count } = row;
    const state = new EngineState();
    const pools = new Set<StartedPool>();
    const observer = observeAll(state, { ready: (pool) => void pools.add(pool) });
    engine = await startEngine(tool, create as CreateEngine<Tool>, { observer });
    await engine.warm();
    for (const call of calls) await engine.convert(source!, call);

    const seen: string[] = [];
    for (const pool of pools) {
      state.failed('killed', pool);
      seen.push(state.status);
      await state.restart();
      seen.push(state.status);
    }

    expect(pools.size).toBe(count);
    expect(seen).toEqual(Array(count).fill(['down', 'up']).flat());
  },
);
