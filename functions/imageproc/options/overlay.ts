import { MAX_SIDE } from '../../shared/options/geometry.ts';
import { parameter } from '../../shared/options/parameters.ts';
import { offset } from './readers.ts';

/** Text and where it goes, relative to the edge that `-gravity` names. */
export interface Annotation {
  readonly text: string;
  /** Degrees clockwise. */
  readonly degrees: number;
  /** `undefined`: no position was given. */
  readonly offset: { readonly x: number; readonly y: number } | undefined;
}

/** Size and offset of an overlay. */
export interface Placement {
  readonly width?: number;
  readonly height?: number;
  readonly exact: boolean;
  readonly percent?: number;
  readonly x: number;
  readonly y: number;
}

const URL_LENGTH = 4000;
const TEXT_LENGTH = 2000;
const ANNOTATION = /^(?:(\d{1,3})(?:x\d{1,3})?)?([+\- ]\d{1,5})([+\- ]\d{1,5})[\s,]+(\S[\s\S]*)$/;

/** Reads the URL of another image. With `optional`, an empty value is allowed. */
export function imageUrl(
  names: string | readonly string[],
  options: { meaning: string; optional?: boolean },
) {
  const parse = (value: string): string | undefined => {
    if (value === '' && options.optional) return '';
    const url = value.length <= URL_LENGTH ? URL.parse(value) : null;
    return url && /^https?:$/.test(url.protocol) && url.hostname ? url.href : undefined;
  };
  const rule = `an http or https URL of an image, at most ${URL_LENGTH} characters${options.optional ? ', or empty' : ''}`;
  return parameter(names, rule, parse, { meaning: options.meaning });
}

/** Reads `+10+20 Hello`, `45x45+10+20 Hello`, `0 Hello` or plain text. `\n` starts a new line. */
export function annotation(name: string, options: { meaning: string }) {
  const parse = (value: string): Annotation | undefined => {
    const match = ANNOTATION.exec(value);
    const bare = /^0(?:x0)?\s+(\S[\s\S]*)$/.exec(value);
    const text = (match?.[4] ?? bare?.[1] ?? value).replaceAll('\\n', '\n').replaceAll('\\\\', '\\');
    const printable = text.replace(/\n/g, '');
    if (text.trim() === '' || text.length > TEXT_LENGTH || /[\p{Cc}\p{Cs}\ufffe\uffff]/u.test(printable)) {
      return undefined;
    }
    const at = match && { x: offset(match[2]), y: offset(match[3]) };
    return { text, degrees: Number(match?.[1] ?? 0), offset: at ?? (bare ? { x: 0, y: 0 } : undefined) };
  };
  return parameter(
    name,
    `text of 1 to ${TEXT_LENGTH} characters, like +10+20 Hello or Hello`,
    parse,
    options,
  );
}

/** Reads `WxH+x+y`, `+x+y` or `50%`. */
export function placement(name: string, options: { meaning: string }) {
  const parse = (value: string): Placement | undefined => {
    const match = /^(?:(\d{1,5})(%)?)?(?:x(\d{1,5})?)?(!)?([+\- ]\d{1,5})?([+\- ]\d{1,5})?$/i.exec(value);
    if (!match || value === '') return undefined;
    const sides = {
      ...(match[1] && !match[2] && { width: Number(match[1]) }),
      ...(match[3] && { height: Number(match[3]) }),
      ...(match[2] && { percent: Number(match[1]) }),
    };
    if (Object.values(sides).some((side) => side < 1 || side > MAX_SIDE)) return undefined;
    return { ...sides, exact: match[4] === '!', x: offset(match[5]), y: offset(match[6]) };
  };
  return parameter(name, 'a size and an offset like 100x50+10+20, 50% or +10+20', parse, options);
}
