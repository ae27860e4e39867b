/** From how many chunks on their average may not be below so many bytes. Servers that flush every line stay above it. */
const RULES = [
  { chunks: 500, average: 4 },
  { chunks: 2000, average: 16 },
  { chunks: 50_000, average: 64 },
];

/**
 * Whether a server sends its bytes in tiny chunks. Each chunk costs this process as much time and memory as
 * one of 64 KiB, and no limit in bytes sees it.
 */
export function areTinyChunks(chunks: number, bytes: number): boolean {
  return RULES.some((rule) => chunks > rule.chunks && bytes < rule.average * chunks);
}
