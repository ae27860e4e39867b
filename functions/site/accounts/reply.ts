import type { HttpRequest } from '../../router/http.ts';
import type { Html } from '../html.ts';
import type { Member } from './members.ts';

/** A page, nothing if the page does not exist, or a redirect to `location` after a form. */
export interface AccountReply {
  readonly status: number;
  readonly main?: Html;
  /** Title of the page. Defaults to that of the account page. */
  readonly title?: string;
  readonly location?: string;
  /** The signed-in member. */
  readonly member?: Member | undefined;
  /** Token of a new session, or an empty string to end the session. */
  readonly session?: string;
  /** Another cookie, for replies without a session. */
  readonly cookie?: string;
}

/** Responds to a form that a member has sent. */
export type Action = (
  member: Member,
  form: URLSearchParams,
  request: Pick<HttpRequest, 'ip'> & { readonly session: string },
) => Promise<AccountReply>;
