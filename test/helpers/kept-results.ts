/** The part of a storage for tests that delete nothing. */
export const KEPT_RESULTS = { exists: async () => true, remove: async () => {} } as const;
