/** Range of the sizes of sources and results. */
export const MEGABYTES = { min: 1, max: 2000 } as const;
