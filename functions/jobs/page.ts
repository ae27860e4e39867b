import type { KeyRecord } from '../platform/keys.ts';
import { JOBS_PATH } from '../router/http.ts';
import type { Action } from '../site/accounts/forms.ts';
import type { Language } from '../site/front-texts.ts';
import { type Html, html } from '../site/html.ts';
import { button, table, timeOf } from '../site/parts.ts';
import { type Delivery, hasEnded, type Status } from './job.ts';
import type { Jobs } from './store.ts';
import type { WebhookSecrets } from './webhooks/secrets.ts';

/** Sends a request to the API for a member. */
export type CallApi = (method: 'POST' | 'DELETE', path: string, member: KeyRecord) => Promise<unknown>;

interface Texts {
  readonly title: string;
  readonly none: string;
  /** Of the columns: job, time, tool, status, webhook and actions. */
  readonly heads: readonly string[];
  readonly statuses: Readonly<Record<Status, string>>;
  readonly deliveries: Readonly<Record<Delivery['state'], string>>;
  readonly cancel: string;
  readonly again: string;
  readonly secret: string;
  readonly rotate: string;
  readonly rotateHint: string;
}

const TEXTS: Readonly<Record<Language, Texts>> = {
  en: {
    title: 'Jobs',
    none: 'No job in the last four days.',
    heads: ['Job', 'Accepted (UTC)', 'Tool', 'Status', 'Webhook', 'Actions'],
    statuses: { queued: 'queued', running: 'running', done: 'done', failed: 'failed', canceled: 'canceled' },
    deliveries: { none: 'not yet', pending: 'pending', delivered: 'delivered', failed: 'failed' },
    cancel: 'Cancel',
    again: 'Send again',
    secret: 'Webhook secret',
    rotate: 'Rotate',
    rotateHint: 'After a rotation, webhooks are also signed with the old secret for 24 hours.',
  },
  de: {
    title: 'Aufträge',
    none: 'Kein Auftrag in den letzten vier Tagen.',
    heads: ['Auftrag', 'Angenommen (UTC)', 'Werkzeug', 'Status', 'Webhook', 'Aktionen'],
    statuses: {
      queued: 'wartet',
      running: 'läuft',
      done: 'fertig',
      failed: 'fehlgeschlagen',
      canceled: 'abgebrochen',
    },
    deliveries: {
      none: 'noch nicht',
      pending: 'steht aus',
      delivered: 'zugestellt',
      failed: 'nicht zugestellt',
    },
    cancel: 'Abbrechen',
    again: 'Erneut senden',
    secret: 'Geheimnis der Webhooks',
    rotate: 'Erneuern',
    rotateHint: 'Nach dem Erneuern unterschreibt das alte Geheimnis noch 24 Stunden lang mit.',
  },
  fr: {
    title: 'Tâches',
    none: 'Aucune tâche ces quatre derniers jours.',
    heads: ['Tâche', 'Acceptée (UTC)', 'Outil', 'État', 'Webhook', 'Actions'],
    statuses: {
      queued: 'en attente',
      running: 'en cours',
      done: 'terminée',
      failed: 'échouée',
      canceled: 'annulée',
    },
    deliveries: { none: 'pas encore', pending: 'en attente', delivered: 'livré', failed: 'non livré' },
    cancel: 'Annuler',
    again: 'Renvoyer',
    secret: 'Secret des webhooks',
    rotate: 'Renouveler',
    rotateHint: 'Après un renouvellement, l’ancien secret signe encore pendant 24 heures.',
  },
};

/** Paths of the forms. The field `id` is that of a job. */
const FORMS = {
  cancel: '/account/jobs/cancel',
  deliver: '/account/jobs/deliver',
  rotate: '/account/jobs/secret',
} as const;
/** Number of jobs to show. */
const SHOWN = 20;

export interface JobPageDependencies {
  readonly jobs: Jobs;
  readonly webhookSecrets: WebhookSecrets;
  readonly callApi: CallApi;
}

/** Returns the handlers of the forms. `keyOf` returns the key with which the member of a session converts. */
export function jobActions(
  { webhookSecrets, callApi }: JobPageDependencies,
  keyOf: (session: string) => Promise<KeyRecord | undefined>,
): Readonly<Record<string, Action>> {
  const home = { status: 303, location: '/account' };
  // The API checks who owns the job.
  const call =
    (method: 'POST' | 'DELETE', part = ''): Action =>
    async (_member, form, { session }) => {
      const key = await keyOf(session);
      const id = encodeURIComponent(form.get('id') ?? '');
      if (key) await callApi(method, `${JOBS_PATH}/${id}${part}`, key);
      return home;
    };
  return {
    [FORMS.cancel]: call('DELETE'),
    [FORMS.deliver]: call('POST', '/webhook'),
    [FORMS.rotate]: async ({ account }) => {
      await webhookSecrets.rotate(account);
      return home;
    },
  };
}

/** Facts about the jobs of a member. */
export type JobFacts = Awaited<ReturnType<typeof readJobs>>;

/** Returns the last jobs of an account and the secret of its webhooks. */
export async function readJobs(account: string, { jobs, webhookSecrets }: JobPageDependencies) {
  const [last, [secret]] = await Promise.all([
    jobs.list(account, { limit: SHOWN }),
    webhookSecrets.get(account),
  ]);
  return { last, secret: secret! };
}

/** Returns the section of the account page about jobs and webhooks. */
export function jobSection({ last, secret }: JobFacts, language: Language): Html {
  const text = TEXTS[language];
  const rows = last.map((job) => {
    const { id, created, call, status, end, delivery } = job;
    const code = end?.status === 'failed' && end.error.code;
    const actions = [
      !hasEnded(job) && button(FORMS.cancel, text.cancel, { id }),
      delivery && delivery.state !== 'none' && button(FORMS.deliver, text.again, { id }),
    ];
    const state =
      delivery && html`${text.deliveries[delivery.state]}${delivery.last && html` (${delivery.last})`}`;
    return html`<tr><td><code>${id}</code></td><td>${timeOf(created, language)}</td><td>${call.request.tool}</td><td>${text.statuses[status]}${code && html` <a href="/support#${code}"><code>${code}</code></a>`}</td><td>${state ?? '–'}</td><td><div class="row">${actions}</div></td></tr>`;
  });
  const list =
    last.length === 0 ? html`<p class="muted">${text.none}</p>` : table(text.title, text.heads, rows);
  return html`<h2>${text.title}</h2>${list}
<details><summary>${text.secret}</summary><pre tabindex="0"><code>${secret}</code></pre><div class="row">${button(FORMS.rotate, text.rotate)}</div><p class="muted">${text.rotateHint}</p></details>`;
}
