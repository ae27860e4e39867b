import { ConversionError } from '../../../../functions/shared/errors.ts';

/** An input, as the search varies it: so many pairs of a name and a value that repeats a unit. */
export interface Genes {
  readonly name: string;
  readonly unit: string;
  readonly length: number;
  readonly count: number;
}

export interface Found {
  readonly genes: Genes;
  /**
   * Milliseconds of the fastest of several runs, because the first are not compiled yet, and some are interrupted. Not processor time,
   * which some kernels count in steps of 4 ms.
   */
  readonly cost: number;
}

/** Maximum length of a query in characters. */
const QUERY_SIZE = 60_000;
const MAX_PAIRS = 600;
const RUNS = 5;
/** The worst inputs are run more often at the end: on a busy machine, all of the first runs may have been interrupted. */
const FINAL_RUNS = 50;
/** Long runs of one of these make parsers repeat their work. */
const UNITS = [
  'a',
  '0',
  '-',
  ' ',
  ',',
  '/',
  '(',
  '%',
  '.',
  'x1',
  '0x',
  '1,',
  '-a ',
  "'",
  '\\',
  'é',
  ':',
  '@',
  '<',
  '%41',
  ';',
  '-resize 1 ',
  '\u0301',
  '\u0301\u0323',
  'application/json;',
  'W/"a",',
  '0-1,',
  'a=b; ',
];

/** Searches for the input that costs `stage` most. Tries random ones first, and then variations of the worst. */
export function searchWorst(
  names: readonly string[],
  stage: (genes: Genes) => void,
  { tries, random, size = QUERY_SIZE }: { tries: number; random: () => number; size?: number | undefined },
): Found[] {
  const pick = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)]!;
  const fit = (genes: Genes): Genes => {
    const count = Math.max(1, Math.min(MAX_PAIRS, Math.floor(size / (genes.name.length + 2)), genes.count));
    const left = Math.floor(size / count) - genes.name.length - 2;
    return { ...genes, count, length: Math.max(0, Math.min(left, genes.length)) };
  };
  const randomGenes = (): Genes => ({
    name: pick(names),
    unit: pick(UNITS),
    length: Math.floor(size ** random()),
    count: Math.floor(10 ** (3 * random())),
  });
  const vary = (genes: Genes): Genes =>
    pick([
      () => ({ ...genes, name: pick(names) }),
      () => ({ ...genes, unit: pick(UNITS) }),
      () => ({ ...genes, length: 2 * genes.length }),
      () => ({ ...genes, count: 2 * genes.count, length: genes.length / 2 }),
    ])();

  let worst: Found[] = [];
  for (let attempt = 0; attempt < tries; attempt++) {
    const genes = fit(attempt % 2 === 0 || worst.length === 0 ? randomGenes() : vary(pick(worst).genes));
    const cost = costOf(() => stage(genes), RUNS);
    const others = worst.filter((found) => JSON.stringify(found.genes) !== JSON.stringify(genes));
    worst = [...others, { genes, cost }].toSorted((a, b) => b.cost - a.cost).slice(0, 10);
  }
  return worst
    .map(({ genes }) => ({ genes, cost: costOf(() => stage(genes), FINAL_RUNS) }))
    .toSorted((a, b) => b.cost - a.cost);
}

/** Returns the text that genes describe. */
export function textWith({ unit, length }: Genes): string {
  return unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
}

function costOf(run: () => void, times: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let runs = 0; runs < times; runs++) {
    const started = performance.now();
    try {
      run();
    } catch (thrown) {
      // A refusal costs time too. Anything else is a mistake of the stage.
      if (!(thrown instanceof ConversionError)) throw thrown;
    }
    least = Math.min(least, performance.now() - started);
  }
  return least;
}
