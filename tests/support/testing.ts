// Exported to a product's tests as `#engine/testing`.

export { readConfig, SETTINGS } from '../../src/server/config.ts';
export { createTestApp } from './app.ts';
export { type E2eServer, startServer } from './e2e-server.ts';
export { createPostgresDatabase } from './postgres.ts';
export { createProductApp } from './product-app.ts';
export { createRenderPage, createVisitPage } from './render-page.tsx';
export { createTestClient } from './test-client.ts';
