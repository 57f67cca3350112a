import { it } from 'vitest';
import { createTestApp } from '#engine/testing';
import { createApi } from '#product-server/api/index.ts';
import { createTodoStore } from '#product-server/api/todos/store.ts';
// biome-ignore-start lint/style/noRestrictedImports: this test of Spillway uses the tour as an example
import { RUNS_TIMEOUT } from '../../../support/api-requests.ts';
import { expectDocumentHolds } from '../../../support/document-holds.ts';

// biome-ignore-end lint/style/noRestrictedImports: this test of Spillway uses the tour as an example

const create = () =>
  createTestApp({ api: createApi({ settings: { tourFailures: true }, services: { todos: createTodoStore() } }) });

it('the document of the tour describes every response', () => expectDocumentHolds({ create }), RUNS_TIMEOUT);
