import type { Protocol } from 'puppeteer-core';
import { ConversionError } from '../../errors.ts';
import type { Session } from './session.ts';

/**
 * Runs a function of ours in the page, in a world where the page's own scripts cannot change what the DOM answers.
 * It is given as text: it is no code of this process. What comes back is still the page's, so check it.
 */
export async function evaluate(
  session: Session,
  declaration: string,
  ...values: readonly (string | number | boolean)[]
): Promise<unknown> {
  const known = session.world;
  if (known !== undefined) {
    // The world has gone when the page has just gone on to another document.
    const answer = await call(session, known, declaration, values).catch(() => undefined);
    if (answer) return read(answer);
  }
  const { executionContextId } = await session.protocol.send('Page.createIsolatedWorld', {
    frameId: session.frameId,
    worldName: 'docmill',
  });
  session.world = executionContextId;
  return read(await call(session, executionContextId, declaration, values));
}

function call(
  { protocol }: Session,
  executionContextId: number,
  functionDeclaration: string,
  values: readonly (string | number | boolean)[],
) {
  return protocol.send('Runtime.callFunctionOn', {
    functionDeclaration,
    executionContextId,
    arguments: values.map((value) => ({ value })),
    returnByValue: true,
    awaitPromise: true,
  });
}

function read({ result, exceptionDetails }: Protocol.Runtime.CallFunctionOnResponse): unknown {
  if (exceptionDetails) throw restless(new Error(exceptionDetails.exception?.description));
  return result.value;
}

/** Reads an expression in the page's own world; an expression that throws is not true yet. */
export async function isTrueInPage({ protocol }: Session, expression: string): Promise<boolean> {
  const answer = await protocol.send('Runtime.evaluate', {
    expression: `Boolean(${expression}\n)`,
    returnByValue: true,
    timeout: 1000,
  });
  return answer.result.value === true;
}

/** Reads a number the page answered: whole, and in bounds whatever it said. */
export function pageNumber(value: unknown, { min, max }: { min: number; max: number }): number {
  const number = typeof value === 'number' && Number.isFinite(value) ? Math.ceil(value) : min;
  return Math.min(max, Math.max(min, number));
}

/** What a page did that no command of ours expects: it went elsewhere, or took its document apart. */
export function restless(cause: unknown): ConversionError {
  return new ConversionError('CONVERSION_FAILED', 'The page changed under way and could not be converted.', {
    cause,
  });
}
