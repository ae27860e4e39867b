const WORDS = (
  'account address agenda annual answer area balance bridge budget carbon chapter city coast council country ' +
  'current delivery demand depth district document drainage energy estimate figure forecast garden growth harbour ' +
  'height index invoice island journal kilometer ledger letter level library limit market measure meeting member ' +
  'method minute mountain network number office order output page paper parcel period permit pilot plan policy ' +
  'population price project quarter rainfall region report reserve result river road sample season section series ' +
  'share signal station street summary supply survey system table target tariff term test total tower traffic ' +
  'transport tunnel unit value valley village volume water weather week weight winter the of and in to a for with'
).split(' ');

/** Returns a sentence of 6 to 18 English words. */
export function sentence(random: () => number): string {
  const words = Array.from({ length: 6 + Math.floor(random() * 13) }, () => word(random));
  const text = words.join(' ');
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}

export function paragraph(random: () => number, sentences = 5): string {
  return Array.from({ length: sentences }, () => sentence(random)).join(' ');
}

export function word(random: () => number): string {
  return WORDS[Math.floor(random() * WORDS.length)]!;
}
