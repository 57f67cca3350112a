import { it } from 'vitest';
import { ticketsApi } from '../../../fixtures/tickets/handlers.ts';
import { createTicketStore, PEOPLE } from '../../../fixtures/tickets/store.ts';
import { RUNS_TIMEOUT } from '../../../support/api-requests.ts';
import { createTestApp } from '../../../support/app.ts';
import { expectDocumentHolds } from '../../../support/document-holds.ts';

it(
  'the document of an API describes every response',
  () =>
    expectDocumentHolds({
      create: (apiStore) => createTestApp({ api: [ticketsApi(createTicketStore())], apiStore }),
      tokens: [...PEOPLE.keys()],
      lists: ['/api/projects', '/api/projects/HELP/tickets'],
    }),
  RUNS_TIMEOUT,
);
