import { createEgressGuard } from '../../../../functions/shared/egress/guard.ts';
import {
  FORBIDDEN_V4,
  FORBIDDEN_V6,
  PUBLIC_ADDRESSES,
  spellingsOfV4,
} from '../../../fixtures/address-spellings.ts';
import type { Row } from '../../row.ts';

/** Every spelling is checked by the guard that the downloader and the browser's proxy share. */
export const addresses: Row = {
  name: 'addresses',
  title: 'spellings of blocked addresses',
  figures: 'blocked / public addresses allowed',
  target: '≥ 400 / ≥ 40, all',
  async run() {
    const spellings = [
      ...FORBIDDEN_V4.flatMap(spellingsOfV4),
      ...FORBIDDEN_V6.flatMap((address) => [
        `[${address}]`,
        `[${address.toUpperCase()}]`,
        `[${address}]:443`,
      ]),
    ];
    const hosts = PUBLIC_ADDRESSES.map((address) => (address.includes(':') ? `[${address}]` : address));
    // An unknown name would be rejected too, so every name resolves to a public address here.
    const egress = createEgressGuard({ resolve: async () => ['8.8.8.8'] });
    const outcome = (host: string) =>
      egress.check(`http://${host}/`).then(
        () => 'reached',
        (error: { code: string }) => error.code,
      );
    const refused = await Promise.all(spellings.map(outcome));
    const allowed = await Promise.all(hosts.map(outcome));

    const refusals = refused.filter((code) => code === 'BLOCKED_ADDRESS' || code === 'BAD_ADDRESS');
    const passes = allowed.filter((code) => code === 'reached');
    return {
      figure: `${refusals.length} of ${spellings.length} / ${passes.length} of ${hosts.length}`,
      failures: [
        ...(spellings.length < 400 || hosts.length < 40 ? ['too few spellings'] : []),
        ...spellings.filter((_, index) => refused[index] === 'reached'),
        ...hosts.filter((_, index) => allowed[index] !== 'reached'),
      ],
    };
  },
};
