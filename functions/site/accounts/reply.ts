import type { HttpRequest } from '../../router/http.ts';
import type { Html } from '../html.ts';
import type { Member } from './members.ts';

/** A page, nothing for one that does not exist, or a redirect to `location` after a form. */
export interface AccountReply {
  readonly status: number;
  readonly main?: Html;
  /** The default is that of the account page. */
  readonly title?: string;
  readonly location?: string;
  /** Who is signed in. */
  readonly member?: Member | undefined;
  /** A session that begins, or an empty text for one that ends. */
  readonly session?: string;
  /** A further cookie, of a reply without a session. */
  readonly cookie?: string;
}

/** Responds to a form that a member has sent. */
export type Action = (
  member: Member,
  form: URLSearchParams,
  request: Pick<HttpRequest, 'ip'>,
) => Promise<AccountReply>;
