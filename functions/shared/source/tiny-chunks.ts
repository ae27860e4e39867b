/** Chunks that a body may have whatever their size, and the average bytes of more than that. */
const [FREE, AVERAGE] = [50_000, 16];

/**
 * Whether a server sends its bytes in tiny chunks. Each chunk costs this process as much time and memory as
 * one of 64 KiB, and no limit in bytes sees it.
 */
export function areTinyChunks(chunks: number, bytes: number): boolean {
  return chunks > FREE && bytes < AVERAGE * chunks;
}
