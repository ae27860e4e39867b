import { describe, expect, it } from 'vitest';
import { line, median, quantile } from './measure.ts';

describe('statistics', () => {
  it('averages the two middle values of an even number', () => {
    const middle = median([4, 1, 3, 2]);

    expect(middle).toBe(2.5);
  });

  it('computes quantiles of unsorted values', () => {
    const ninetieth = quantile([10, 0, 5], 0.9);

    expect(ninetieth).toBe(9);
  });

  it('fits a straight line exactly', () => {
    const fitted = line([
      [1, 12],
      [2, 14],
      [10, 30],
    ]);

    expect(fitted.slope).toBeCloseTo(2);
    expect(fitted.start).toBeCloseTo(10);
    expect(fitted.explained).toBeCloseTo(1);
  });
});
