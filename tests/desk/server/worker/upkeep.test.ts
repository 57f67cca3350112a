import { expect, it } from 'vitest';
import type { Store } from '../../../../src/desk/server/store/store.ts';
import { createTasks } from '../../../../src/desk/server/worker/tasks.ts';
import { createUpkeep } from '../../../../src/desk/server/worker/upkeep.ts';
import { createTestLog } from '../../../support/test-log.ts';

it('takes over the journals of replicas that are killed while it runs, never twice at once', async () => {
  let running = 0;
  const runs: number[] = [];
  const store = { check: async () => undefined, changes: { endIgnores: async () => undefined } } as unknown as Store;
  const upkeep = createUpkeep(
    {
      running: { build: 'development', release: 'r1', dist: '' },
      retention: { maxAge: 1, maxBytes: 1 },
      retryFirst: 1,
      onRetained: () => undefined,
    },
    {
      holder: { use: (work: (store: Store) => unknown) => work(store), reachableSince: 0 } as never,
      writer: { flush: async () => undefined },
      deadJournals: {
        async adoptAll() {
          runs.push(++running);
          await new Promise((resolve) => setTimeout(resolve, 5));
          running -= 1;
        },
      } as never,
      processes: { write: () => undefined, endOfSilent: async () => undefined } as never,
      tasks: createTasks(createTestLog().log as never),
    },
  );
  upkeep.catchUp();
  await upkeep.lookAfter();
  upkeep.stop();
  expect(runs).toEqual([1, 1]);
});
