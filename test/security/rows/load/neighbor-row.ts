import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { SAMPLES_FOLDER } from '../../../../infra/local/self-check/samples.ts';
import { inParallel } from '../../../../layers/build/command.ts';
import { type Listening, serveHttp } from '../../../helpers/fault-server.ts';
import { type SharedService, type SharedServiceOptions, withSharedService } from '../../neighbor/service.ts';
import { judge, MAX_DELAY } from '../../neighbor/verdict.ts';
import type { Reached, Row } from '../../row.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

interface NeighborRow extends Pick<Row, 'name' | 'title'>, Partial<Pick<Row, 'figures' | 'target'>> {
  /** Responds to requests for sources. By default, all of them are a picture. */
  readonly source?: Answer;
  /** Starts the server of the sources, if it is not a plain one. */
  readonly serve?: () => Promise<Listening>;
  readonly settings?: Omit<SharedServiceOptions, 'sources'>;
  /** Attacks, and returns what it found apart from the second account's requests. */
  attack(service: SharedService, origin: string): Promise<Partial<Reached>>;
}

/** A sample of the service. */
export const PICTURE = readFileSync(join(SAMPLES_FOLDER, 'picture.png'));
const sendPicture: Answer = (_request, response) => response.end(PICTURE);

/** Creates a row that attacks a service of its own, and judges how a second account was served meanwhile. */
export function neighborRow({
  name,
  title,
  figures = 'slowest request of another account',
  target = `≤ ${MAX_DELAY} ms, none failed`,
  source = sendPicture,
  serve = () => serveHttp(source),
  settings,
  attack,
}: NeighborRow): Row {
  return {
    name,
    title,
    figures,
    target,
    async run() {
      const server = await serve();
      try {
        return await withSharedService({ ...settings, sources: [server.port] }, async (service) => {
          await service.heartbeat.reset();
          const { figure, failures = [], notes = [] } = await attack(service, server.origin);
          const verdict = await judge(service);
          return {
            ...verdict,
            figure: figure === undefined ? verdict.figure : `${figure}; ${verdict.figure}`,
            failures: [...failures, ...verdict.failures],
            notes,
          };
        });
      } finally {
        await server.close();
      }
    },
  };
}

/** Calls `each` with the numbers from 0, several at a time. */
export function repeat<Result>(
  count: number,
  lanes: number,
  each: (index: number) => Promise<Result>,
): Promise<Result[]> {
  return inParallel([...Array(count).keys()], lanes, each);
}
