import { describe, expect, it, vi } from 'vitest';
import { VisitorGone } from '../../../../src/server/engine/errors/visitor-gone.ts';
import {
  createRenderGate,
  type RenderGateOptions,
  type Waiting,
} from '../../../../src/server/engine/http/render-gate.ts';

/** A gate whose turns and clock the test drives. */
function createTestGate(options: RenderGateOptions = {}) {
  const turns: (() => void)[] = [];
  const clock = { ms: 0 };
  const gate = createRenderGate({ now: () => clock.ms, onNextTurn: (turn) => void turns.push(turn), ...options });
  return {
    gate,
    clock,
    /** Goes on to the next turn of the loop, after so many milliseconds, or so many turns further. */
    async turn(ms = 0, count = 1) {
      clock.ms += ms;
      for (let done = 0; done < count; done++) {
        turns.shift()?.();
        await Promise.resolve();
      }
    },
  };
}

const SOMEBODY: Waiting = { endedBy: undefined };

describe('a gate for renders', () => {
  it('lets the first of each turn through at once', async () => {
    const { gate, turn } = createTestGate();
    expect(gate.takeTurn(SOMEBODY, true)).toBeUndefined();
    await turn();
    expect(gate.takeTurn(SOMEBODY, true)).toBeUndefined();
  });

  it('lets one a turn through, in the order in which they came', async () => {
    const { gate, turn } = createTestGate();
    const begun: number[] = [];
    for (const name of [1, 2, 3])
      void (gate.takeTurn(SOMEBODY, true) ?? Promise.resolve()).then(() => begun.push(name));
    await turn();
    expect([begun, gate.queued]).toEqual([[1, 2], 1]);
    await turn();
    expect([begun, gate.queued]).toEqual([[1, 2, 3], 0]);
    await turn();
    expect(gate.takeTurn(SOMEBODY, true)).toBeUndefined();
  });

  it('knows how long the next one would wait: by the oldest, and by how the queue moves', async () => {
    const { gate, clock, turn } = createTestGate();
    gate.takeTurn(SOMEBODY, false);
    expect(gate.waitMs).toBe(0);
    for (let more = 0; more < 200; more++) void gate.takeTurn(SOMEBODY, false);
    clock.ms += 30;
    expect(gate.waitMs).toBe(30);
    for (let turns = 0; turns < 100; turns++) await turn(10);
    expect(gate.queued).toBe(100);
    for (let more = 0; more < 200; more++) void gate.takeTurn(SOMEBODY, false);
    expect(gate.waitMs).toBeGreaterThan(300 * 8);
    expect(gate.waitMs).toBeLessThan(300 * 12);
  });

  it('refuses who would wait too long, and who has, but nothing that must be answered', async () => {
    const onRefuse = vi.fn();
    const { gate, clock, turn } = createTestGate({ maxWaitMs: 100, onRefuse });
    gate.takeTurn(SOMEBODY, true);
    const [first, second, must] = [
      gate.takeTurn(SOMEBODY, true),
      gate.takeTurn(SOMEBODY, true),
      gate.takeTurn(SOMEBODY, false),
    ];
    clock.ms += 101;
    expect(await gate.takeTurn(SOMEBODY, true)).toBe(false);
    expect(onRefuse).toHaveBeenCalledTimes(1);
    const late = gate.takeTurn(SOMEBODY, false);
    await turn();
    expect(await first).toBe(true);
    await turn(200, 8);
    expect([await second, await must]).toEqual([false, true]);
    expect(onRefuse).toHaveBeenCalledTimes(2);
    await turn(500, 8);
    expect(await late).toBe(true);
  });

  it('leaves turns for others between its own where renders wait long', async () => {
    const { gate, turn } = createTestGate({ maxWaitMs: 100 });
    gate.takeTurn(SOMEBODY, false);
    for (let more = 0; more < 4; more++) void gate.takeTurn(SOMEBODY, false);
    await turn(5);
    await turn(4);
    expect(gate.queued).toBe(2);
    await turn(5);
    expect(gate.queued).toBe(1);
    await turn(0, 7);
    expect(gate.queued).toBe(1);
    await turn();
    expect(gate.queued).toBe(0);
  });

  it('gives others no more time than the render took', async () => {
    const { gate, turn } = createTestGate({ maxWaitMs: 100 });
    gate.takeTurn(SOMEBODY, false);
    for (let more = 0; more < 3; more++) void gate.takeTurn(SOMEBODY, false);
    await turn(20);
    expect(gate.queued).toBe(2);
    // The render took 6 ms, and each turn of others takes 4.
    await turn(6);
    await turn(4);
    expect(gate.queued).toBe(2);
    await turn(4);
    expect(gate.queued).toBe(1);
  });

  it('spends no turn on visitors who left, and does not call that a refusal', async () => {
    const onRefuse = vi.fn();
    const { gate, turn } = createTestGate({ onRefuse });
    gate.takeTurn(SOMEBODY, true);
    const gone = gate.takeTurn({ endedBy: new VisitorGone() }, true);
    const there = gate.takeTurn(SOMEBODY, true);
    await turn();
    expect([await gone, await there]).toEqual([false, true]);
    expect(onRefuse).not.toHaveBeenCalled();
  });

  it('counts the pages in progress, each once', () => {
    const { gate } = createTestGate();
    const leave = gate.enter();
    gate.enter();
    expect(gate.pages).toBe(2);
    leave();
    leave();
    expect(gate.pages).toBe(1);
  });

  it('keeps its order through thousands', async () => {
    const { gate, turn } = createTestGate();
    gate.takeTurn(SOMEBODY, false);
    const begun: number[] = [];
    for (let name = 0; name < 5000; name++) void gate.takeTurn(SOMEBODY, false)?.then(() => begun.push(name));
    for (let turns = 0; turns < 5000; turns++) await turn();
    expect(begun).toEqual(Array.from({ length: 5000 }, (_, name) => name));
  });
});
