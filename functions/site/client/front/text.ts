import { FRONT, type Language } from '../../front/texts.ts';

/** The texts in the language of the page. */
export const TEXT = FRONT[document.documentElement.lang as Language] ?? FRONT.en;
