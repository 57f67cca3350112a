import { afterAll, beforeAll } from 'vitest';
import { createOwnedApp, type OwnedApp, type RunningApp, startApp } from '../support/owned-app.ts';
import { usePages } from './site.ts';

/** Builds and starts the smallest app with a test's own pages, once. For behaviour that no page of the tour shows. */
export function useOwnedSite(files: Readonly<Record<string, string | undefined>>): ReturnType<typeof usePages> {
  let app: OwnedApp;
  let server: RunningApp;
  beforeAll(async () => {
    app = createOwnedApp();
    app.write(files);
    await app.build();
    server = await startApp(app.folder);
  }, 120_000);
  afterAll(async () => {
    await server?.stop();
    app?.remove();
  });
  return usePages(() => server.url);
}
