import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { layOutImage } from '../../bin/image.mjs';
import { createNew } from '../../bin/new/new.mjs';
import { buildApp } from '../support/build-app.ts';
import { createOwnedApp, startApp } from '../support/owned-app.ts';

it('an app in apps/web of a workspace, whose packages are above it, builds, starts and gets new pages', async () => {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-workspace-')));
  onTestFinished(() => rmSync(workspace, { recursive: true, force: true }));
  const app = join(workspace, 'apps/web');
  mkdirSync(join(workspace, 'apps'));
  renameSync(createOwnedApp().folder, app);
  renameSync(join(app, 'node_modules'), join(workspace, 'node_modules'));
  const told: string[] = [];
  createNew(['page', '/orders'], { root: app, log: (line: string) => told.push(line) });
  expect(told.join('\n')).not.toContain('could not be formatted');
  await buildApp(app);
  const server = await startApp(app);
  onTestFinished(async () => void (await server.stop()));
  const html = await (await fetch(`${server.url}/orders`)).text();
  expect(html).toContain('This text is from src/server/product/pages/orders.ts.');
  layOutImage(app, join(workspace, 'image'));
  expect(() => realpathSync(join(workspace, 'image/app/node_modules/pino/package.json'))).not.toThrow();
}, 120_000);
