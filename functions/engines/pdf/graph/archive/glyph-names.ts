/** Characters of Windows-1252 and Mac Roman besides letters of ASCII, and the names of their glyphs in the same order. */
const CHARACTERS =
  ' !"#$%&\'()*+,-./0123456789:;<=>?@[\\]^_`{|}~€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ\u00a0¡¢£¤¥¦§¨©ª«¬\u00ad®¯°±²³´µ¶·¸¹º»¼½¾¿' +
  'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿﬁﬂ⁄ı˘˙˚˝˛ˇ';
const NAMES = (
  'space exclam quotedbl numbersign dollar percent ampersand quotesingle parenleft parenright asterisk plus comma hyphen period ' +
  'slash zero one two three four five six seven eight nine colon semicolon less equal greater question at bracketleft backslash ' +
  'bracketright asciicircum underscore grave braceleft bar braceright asciitilde Euro quotesinglbase florin quotedblbase ellipsis ' +
  'dagger daggerdbl circumflex perthousand Scaron guilsinglleft OE Zcaron quoteleft quoteright quotedblleft quotedblright bullet ' +
  'endash emdash tilde trademark scaron guilsinglright oe zcaron Ydieresis space exclamdown cent sterling currency yen brokenbar ' +
  'section dieresis copyright ordfeminine guillemotleft logicalnot hyphen registered macron degree plusminus twosuperior ' +
  'threesuperior acute mu paragraph periodcentered cedilla onesuperior ordmasculine guillemotright onequarter onehalf ' +
  'threequarters questiondown Agrave Aacute Acircumflex Atilde Adieresis Aring AE Ccedilla Egrave Eacute Ecircumflex Edieresis ' +
  'Igrave Iacute Icircumflex Idieresis Eth Ntilde Ograve Oacute Ocircumflex Otilde Odieresis multiply Oslash Ugrave Uacute ' +
  'Ucircumflex Udieresis Yacute Thorn germandbls agrave aacute acircumflex atilde adieresis aring ae ccedilla egrave eacute ' +
  'ecircumflex edieresis igrave iacute icircumflex idieresis eth ntilde ograve oacute ocircumflex otilde odieresis divide oslash ' +
  'ugrave uacute ucircumflex udieresis yacute thorn ydieresis fi fl fraction dotlessi breve dotaccent ring hungarumlaut ogonek caron'
).split(' ');
const GLYPHS = new Map([...CHARACTERS].map((character, index) => [character, NAMES[index]!]));

/** Returns the names of glyphs by code, in an encoding that `TextDecoder` knows. */
export function glyphNames(label: string): Map<number, string> {
  const decoder = new TextDecoder(label);
  const codes = Array.from({ length: 224 }, (_, index) => index + 32);
  return new Map(
    codes.flatMap((code) => {
      const character = decoder.decode(Uint8Array.of(code));
      const name = /^[a-z]$/i.test(character) ? character : GLYPHS.get(character);
      return name === undefined ? [] : [[code, name] as const];
    }),
  );
}
