import { expect, it } from 'vitest';
import { markArtifacts } from '../../../../../functions/engines/pdf/graph/accessible.ts';

const mark = (content: string) =>
  markArtifacts(content, { isTag: (name) => name === 'MC0', hasTags: (name) => name === 'Tagged' })?.replace(
    /\s+/g,
    ' ',
  );

it('marks only drawn content outside of tags', () => {
  expect(mark('0 g 1 2 3 4 re f /P <</MCID 0 >>BDC 5 6 m 7 8 l S EMC 0 0 1 1 re W n')).toBe(
    '0 g /Artifact BMC 1 2 3 4 re f EMC /P <</MCID 0 >>BDC 5 6 m 7 8 l S EMC 0 0 1 1 re W n',
  );
  expect(mark('/P /MC0 BDC (a) Tj EMC /Artifact BMC (b) Tj EMC /Tagged Do')).toBeUndefined();
  expect(mark('/Span <</Lang (de)>> BDC BT (a) Tj ET EMC /Untagged Do')).toBe(
    '/Span <</Lang (de)>> BDC BT /Artifact BMC (a) Tj EMC ET EMC /Artifact BMC /Untagged Do EMC ',
  );
});
