import { expect, it } from 'vitest';
import { EngineState } from '../../../../functions/engines/worker/observer.ts';

it('is down as long as one of the engines of a tool cannot start', () => {
  const state = new EngineState();
  const pool = () => ({ warm: async () => {} });
  const [office, script] = [pool(), pool()];

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

it('restarts what is broken', async () => {
  const state = new EngineState();
  const warmed: string[] = [];
  const pool = (name: string, warm: () => Promise<void>) => ({
    warm: () => {
      warmed.push(name);
      return warm();
    },
  });
  const isBroken = pool('broken', async () => {
    throw new Error('exit code 1');
  });
  state.ready(pool('working', async () => {}));
  state.failed(
    'exit code 1',
    pool('idle', async () => {}),
  );
  state.failed('exit code 1', isBroken);

  await state.restart();

  expect([warmed, state.status]).toEqual([['idle', 'broken'], 'down']);
  state.ready(isBroken);
  expect(state.status).toBe('up');
});
