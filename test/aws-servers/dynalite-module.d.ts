declare module 'dynalite' {
  import type { Server } from 'node:http';
  /** Creates a DynamoDB server, in memory unless a path is given. */
  export default function dynalite(options?: { path?: string; createTableMs?: number }): Server;
}
