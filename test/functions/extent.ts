/** Decides how much the tests that read it try. `test/whole.lab.test.ts` lets them try everything. */
export const EXTENT = { isWhole: false };
