import { createTransport } from 'nodemailer';

interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends an email. */
export type SendMail = (mail: Mail) => Promise<void>;

/** Timeouts in milliseconds for connecting, for the greeting, and for silence of the server. */
const TIMES = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };

/** Sends emails through a server such as `smtps://user:password@mail.example.com`. */
export function createSmtp(url: string, from: string): SendMail {
  const transport = createTransport(url, { from, ...TIMES } as object);
  return async (mail) => {
    await transport.sendMail({ ...mail, from, disableFileAccess: true, disableUrlAccess: true });
  };
}
