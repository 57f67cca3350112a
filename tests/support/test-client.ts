import express, { type Request } from 'express';
import { localClient } from '../../src/server/api/local-client.ts';
import { type ApiParts, mountApi } from '../../src/server/api/mount-api.ts';
import type { Client } from '../../src/shared/api/client.ts';

/**
 * A `localClient()` without a server, for tests of pages that call the API: `createTestClient<Api>([groupsApi(store)])`.
 *
 * @param request what `session()` looks at, such as `{ user }`
 */
export function createTestClient<Api>(api: ApiParts, request: object = {}): Client<Api> {
  const app = express();
  mountApi(api, { app, base: '/api', document: false });
  return localClient<Api>({ headers: {}, ...request, app } as unknown as Request); // the parts that operations read
}
