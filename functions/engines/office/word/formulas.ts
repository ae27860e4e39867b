/**
 * A program for the macro: steps separated by `_` that push values to a stack or combine the ones on its top. A step that begins
 * with `x` pushes the text of its hexadecimal digits.
 */
type Steps = readonly string[];

/** A nested field: its program, or `undefined` if there is none. */
export type Nested = Steps | undefined;

/** Stands for nested fields in an instruction, from this character on. */
const FIRST_NESTED = 0xe000;
export const MAX_NESTED = 0x1000;
export const placeholder = (index: number) => String.fromCharCode(FIRST_NESTED + index);

const NESTED = /[\ue000-\uefff]/;
const COMPARISONS = { '=': 'eq', '<>': 'ne', '<': 'lt', '>': 'gt', '<=': 'le', '>=': 'ge' } as const;
const ARITHMETIC = { '+': 'add', '-': 'sub', '*': 'mul', '/': 'div', '^': 'pow' } as const;
const FUNCTIONS: Readonly<Record<string, number>> = { mod: 2, int: 1, abs: 1, round: 2, if: 3 };
/** Values of `com.sun.star.style.NumberingType`. */
const NUMBERINGS: Readonly<Record<string, string>> = {
  ALPHABETIC: '0',
  alphabetic: '1',
  ROMAN: '2',
  roman: '3',
  Arabic: '4',
};
/** Fields that are computed for each page. */
export const COMPUTED = /^\s*(IF\b|PAGE\b|NUMPAGES\b|=)/i;
const SWITCHES = /\s+\\(?:\*\s*(?<name>\w+)|#\s*(?:"(?<quoted>[^"]*)"|(?<picture>[^\s"\\]+)))\s*$/;

/**
 * Compiles the instruction of a field whose result depends on the page, whose nested fields are placeholders. Returns `undefined`
 * if it has something that is not supported.
 */
export function compile(instruction: string, nested: readonly Nested[]): Nested {
  const [code, formats] = splitSwitches(instruction);
  if (!formats) return undefined;
  const name = COMPUTED.exec(code)?.[1] ?? '';
  const steps = COMPILERS[name.toUpperCase()]?.(code.trimStart().slice(name.length), nested);
  return steps && [...steps, ...formats];
}

const COMPILERS: Readonly<Record<string, (rest: string, nested: readonly Nested[]) => Nested>> = {
  PAGE: (rest) => (rest.trim() === '' ? ['page'] : undefined),
  NUMPAGES: (rest) => (rest.trim() === '' ? ['pages'] : undefined),
  IF: compileIf,
  '=': compileFormula,
};

/** Returns an instruction without its switches, and the steps for them; none if a switch is not supported. */
function splitSwitches(instruction: string): [string, Steps | undefined] {
  const match = SWITCHES.exec(instruction);
  if (!match?.groups) return [instruction, []];
  const { name, quoted, picture = quoted } = match.groups;
  const [code, before] = splitSwitches(instruction.slice(0, match.index));
  const isKept = /^(?:mergeformat|charformat)$/i.test(name ?? '');
  const numbering = name && (NUMBERINGS[name] ?? (/^arabic$/i.test(name) ? '4' : undefined));
  const steps =
    picture !== undefined ? [literal(picture), 'picture'] : numbering && [literal(numbering), 'numbering'];
  const own = isKept ? [] : steps || undefined;
  return [code, before && own && [...before, ...own]];
}

function compileIf(rest: string, nested: readonly Nested[]): Nested {
  const tokens = [...rest.matchAll(/["“”]([^"“”]*)["“”]|(<=|>=|<>|[=<>])|([^\s"“”=<>]+)|(\S)/g)];
  const [left, operator, right, whenTrue, whenFalse, more] = tokens;
  const comparison = COMPARISONS[operator?.[2] as keyof typeof COMPARISONS];
  const isOperator = (token: RegExpMatchArray | undefined) =>
    token?.[2] !== undefined || token?.[4] !== undefined;
  if (!comparison || !whenTrue || more || [left, right, whenTrue, whenFalse].some(isOperator))
    return undefined;
  // Text shows a page in the numbering of its section.
  const shown = nested.map((steps) => (steps?.join() === 'page' ? ['shown'] : steps));
  const [one, other, yes, no] = [left, right, whenTrue, whenFalse].map((token, index) =>
    text(token?.[1] ?? token?.[3] ?? '', index < 2 ? nested : shown),
  );
  return one && other && yes && no && [...one, ...other, comparison, ...yes, ...no, 'if'];
}

/** Returns the steps for text with placeholders. */
function text(value: string, nested: readonly Nested[]): Nested {
  const parts = value.split(/([\ue000-\uefff])/).filter((part) => part !== '');
  const steps = parts.map((part) => (NESTED.test(part) ? nestedOf(part, nested) : [literal(part)]));
  if (steps.length === 0) return [literal('')];
  if (steps.includes(undefined)) return undefined;
  return steps.flatMap((each, index) => (index === 0 ? each! : [...each!, 'cat']));
}

function nestedOf(part: string, nested: readonly Nested[]): Nested {
  return nested[part.charCodeAt(0) - FIRST_NESTED];
}

function literal(value: string): string {
  return `x${Array.from({ length: value.length }, (_, index) => value.charCodeAt(index).toString(16).padStart(4, '0')).join('')}`;
}

/** Compiles arithmetic, with comparisons binding weakest. */
function compileFormula(rest: string, nested: readonly Nested[]): Nested {
  const tokens = rest.match(/\d+(?:\.\d+)?|[a-z]+|<=|>=|<>|\S/gi) ?? [];
  let at = 0;
  const steps: string[] = [];
  const takes = (...wanted: readonly string[]) =>
    wanted.includes(tokens[at]?.toLowerCase() ?? '') ? tokens[at++] : undefined;
  const expect = (wanted: string) => {
    if (!takes(wanted)) throw new SyntaxError(`No '${wanted}'.`);
  };

  function chain(operand: () => void, names: Readonly<Record<string, string>>, operators: readonly string[]) {
    operand();
    for (let operator = takes(...operators); operator; operator = takes(...operators)) {
      operand();
      steps.push(names[operator]!);
    }
  }
  const comparison = () => chain(sum, COMPARISONS, Object.keys(COMPARISONS));
  const sum = () => chain(product, ARITHMETIC, ['+', '-']);
  const product = () => chain(power, ARITHMETIC, ['*', '/']);
  const power = () => chain(value, ARITHMETIC, ['^']);

  function value() {
    const token = tokens[at++] ?? '';
    const argumentCount = FUNCTIONS[token.toLowerCase()];
    if (token === '-') {
      steps.push(literal('0'));
      value();
      steps.push('sub');
    } else if (token === '(') {
      comparison();
      expect(')');
    } else if (argumentCount) {
      expect('(');
      for (let index = 0; index < argumentCount; index += 1) {
        if (index > 0 && !takes(',')) expect(';');
        comparison();
      }
      expect(')');
      steps.push(token.toLowerCase());
    } else if (NESTED.test(token)) {
      const inner = nestedOf(token, nested);
      if (!inner) throw new SyntaxError('A nested field is not supported.');
      steps.push(...inner);
    } else if (/^\d/.test(token)) steps.push(literal(token));
    else throw new SyntaxError('Not a value.');
  }

  try {
    comparison();
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
  return at === tokens.length ? steps : undefined;
}

/** Returns the steps for a text that no page changes. */
export function constant(value: string): Steps {
  return [literal(value)];
}

/** Whether a program depends on the page or on the number of pages. */
export function dependsOnPage(steps: Steps): boolean {
  return steps.some((step) => ['page', 'shown', 'pages'].includes(step));
}
