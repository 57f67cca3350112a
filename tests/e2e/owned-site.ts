import { afterAll, beforeAll } from 'vitest';
import { createOwnedApp, type OwnedApp, type RunningApp, startApp } from '../support/owned-app.ts';
import { ownProduct } from './own-product.ts';
import { usePages } from './site.ts';

/** Builds and starts an app for behaviour that no page of the tour shows. */
export function useOwnedSite(): ReturnType<typeof usePages> {
  let app: OwnedApp;
  let server: RunningApp;
  beforeAll(async () => {
    app = createOwnedApp();
    app.write(ownProduct);
    await app.build();
    server = await startApp(app.folder);
  });
  afterAll(async () => {
    await server?.stop();
    app?.remove();
  });
  return usePages(() => server.url);
}
