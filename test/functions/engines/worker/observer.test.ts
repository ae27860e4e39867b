import { expect, it } from 'vitest';
import { EngineState } from '../../../../functions/engines/worker/observer.ts';

it('is down as long as one of the engines of a tool cannot start', () => {
  const state = new EngineState();
  const [office, script] = [{}, {}];

  const seen = [
    () => {},
    () => state.ready(script),
    () => state.failed('exit code 1', office),
    () => state.ready(script),
    () => state.ready(office),
  ].map((happen) => {
    happen();
    return state.status;
  });

  expect(seen).toEqual(['starting', 'up', 'down', 'down', 'up']);
});
