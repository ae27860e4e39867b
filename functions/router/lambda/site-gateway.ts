import type { Site, SiteReply } from '../../site/site.ts';
import type { HttpRequest } from '../http.ts';
import type { HttpReply } from '../reply.ts';

/** Serves the site's pages next to the API. */
export interface SiteGateway {
  /** Responds to a request for a page, and passes on all others. */
  respond(
    request: HttpRequest,
    route: (request: HttpRequest) => Promise<HttpReply>,
  ): Promise<HttpReply | SiteReply>;
  /** Waits for emails that are still being sent. */
  idle(): Promise<void>;
}

interface GatewayDependencies {
  /** Base path of the site. */
  readonly path: string;
  /** Origin of the site. A request may have a proxy's host name instead. */
  readonly origin: string;
  /** Opens the site on the first request for a page. `keep` takes tasks that may finish after the reply. */
  open(keep: (task: Promise<void>) => Promise<void>): Promise<Site>;
}

/** Creates the gateway, which opens the site on the first request for a page. */
export function createSiteGateway({ path, origin, open }: GatewayDependencies): SiteGateway {
  const tasks = new Set<Promise<void>>();
  let opened: Promise<Site> | undefined;

  function keep(task: Promise<void>): Promise<void> {
    const ended = task.then(
      () => void tasks.delete(ended),
      () => void tasks.delete(ended),
    );
    tasks.add(ended);
    return task;
  }

  function site(): Promise<Site> {
    opened ??= open(keep);
    opened.catch(() => (opened = undefined));
    return opened;
  }

  return {
    async respond(request, route) {
      const isPage = request.path === path || request.path.startsWith(`${path}/`);
      if (!isPage) return route(request);
      const reply = await (await site()).respond(request, origin);
      if (!reply) return route(request);
      if ('routed' in reply) return route(reply.routed);
      return request.method === 'HEAD' ? { ...reply, body: '' } : reply;
    },
    async idle() {
      await Promise.all(tasks);
    },
  };
}
