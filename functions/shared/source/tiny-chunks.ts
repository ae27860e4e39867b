/** A body may have 50,000 chunks of any size. Beyond that, chunks must average at least 16 bytes. */
const [FREE, AVERAGE] = [50_000, 16];

/**
 * Whether a server sends its bytes in tiny chunks. Each chunk costs this process as much time and memory as one of 64
 * KiB, which a limit on bytes does not account for.
 */
export function areTinyChunks(chunks: number, bytes: number): boolean {
  return chunks > FREE && bytes < AVERAGE * chunks;
}
