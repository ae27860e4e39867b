// The script of all pages. Each part runs only on the page that it is for.
import { offerCopies } from './copy.ts';

offerCopies();
if (document.getElementById('front')) await import('./front.ts');
if (document.getElementById('try')) await import('./try.ts');
