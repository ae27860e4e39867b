import type { KeyRecord } from '../platform/keys.ts';
import { JOBS_PATH } from '../router/http.ts';
import type { Language } from '../site/front-texts.ts';
import { type Html, html } from '../site/html.ts';
import { button, table, timeOf } from '../site/parts.ts';
import { type Delivery, hasEnded, type Job, type Status } from './job.ts';

/** Sends a request to the API for a member. */
export type CallApi = (method: 'POST' | 'DELETE', path: string, member: KeyRecord) => Promise<unknown>;

interface Texts {
  readonly title: string;
  readonly none: string;
  readonly heads: readonly [job: string, accepted: string, tool: string, status: string, webhook: string];
  readonly actions: string;
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
    heads: ['Job', 'Accepted (UTC)', 'Tool', 'Status', 'Webhook'],
    actions: 'Actions',
    statuses: { queued: 'queued', running: 'running', done: 'done', failed: 'failed', canceled: 'canceled' },
    deliveries: { none: 'not yet', pending: 'pending', delivered: 'delivered', failed: 'failed' },
    cancel: 'Cancel',
    again: 'Send again',
    secret: 'Secret of the webhooks',
    rotate: 'Rotate',
    rotateHint: 'After a rotation, the old secret also signs for 24 hours.',
  },
  de: {
    title: 'Aufträge',
    none: 'Kein Auftrag in den letzten vier Tagen.',
    heads: ['Auftrag', 'Angenommen (UTC)', 'Werkzeug', 'Status', 'Webhook'],
    actions: 'Aktionen',
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
    heads: ['Tâche', 'Acceptée (UTC)', 'Outil', 'État', 'Webhook'],
    actions: 'Actions',
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

/** Paths of the forms, whose field `id` is that of a job. */
export const JOB_FORMS = {
  cancel: '/account/jobs/cancel',
  deliver: '/account/jobs/deliver',
  rotate: '/account/jobs/secret',
} as const;

/** Sends the request of a form about a job to the API, which checks who owns it. */
export async function actOnJob(
  form: keyof Pick<typeof JOB_FORMS, 'cancel' | 'deliver'>,
  id: string,
  member: KeyRecord,
  callApi: CallApi,
): Promise<void> {
  const path = `${JOBS_PATH}/${encodeURIComponent(id)}`;
  await (form === 'cancel' ? callApi('DELETE', path, member) : callApi('POST', `${path}/webhook`, member));
}

/** Shows the last jobs of a member, and the secret of the webhooks. */
export function jobSection(jobs: readonly Job[], secret: string, language: Language): Html {
  const text = TEXTS[language];
  const rows = jobs.map((job) => {
    const { id, created, call, status, end, delivery } = job;
    const code = end?.status === 'failed' && end.error.code;
    const actions = [
      !hasEnded(job) && button(JOB_FORMS.cancel, text.cancel, { id }),
      delivery && delivery.state !== 'none' && button(JOB_FORMS.deliver, text.again, { id }),
    ];
    const state =
      delivery && html`${text.deliveries[delivery.state]}${delivery.last && html` (${delivery.last})`}`;
    return html`<tr><td><code>${id}</code></td><td>${timeOf(created, language)}</td><td>${call.request.tool}</td><td>${text.statuses[status]}${code && html` <a href="/support#${code}"><code>${code}</code></a>`}</td><td>${state ?? '–'}</td><td><div class="row">${actions}</div></td></tr>`;
  });
  const list =
    jobs.length === 0
      ? html`<p class="muted">${text.none}</p>`
      : table(text.title, [...text.heads, text.actions], rows);
  return html`<h2>${text.title}</h2>${list}
<details><summary>${text.secret}</summary><pre tabindex="0"><code>${secret}</code></pre><div class="row">${button(JOB_FORMS.rotate, text.rotate)}</div><p class="muted">${text.rotateHint}</p></details>`;
}
