import { describe, expect, it } from 'vitest';
import { line, median, quantile } from './statistics.ts';

describe('statistics', () => {
  it('takes the middle of an even number of values from both sides of it', () => {
    const middle = median([4, 1, 3, 2]);

    expect(middle).toBe(2.5);
  });

  it('finds the value below which a share lies, whatever the order', () => {
    const ninetieth = quantile([10, 0, 5], 0.9);

    expect(ninetieth).toBe(9);
  });

  it('finds the slope of a straight line and says that it is one', () => {
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
