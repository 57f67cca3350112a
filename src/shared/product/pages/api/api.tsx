import handler from 'excerpt:src/server/product/api/todos/handlers.ts#createTodo';
import operation from 'excerpt:src/shared/product/api/todos.ts#createTodo';
import client from 'excerpt:src/shared/product/pages/api/add-todo.tsx#AddTodo';
import { useHost } from '#engine';
import { type ApiRequest, Ask } from '../../ui/ask.tsx';
import { Code } from '../../ui/code.tsx';
import { Excerpt } from '../../ui/excerpt.tsx';
import { Exhibit } from '../../ui/exhibit.tsx';
import { Page } from '../../ui/page.tsx';
import { AddTodo } from './add-todo.tsx';

const REQUESTS: ApiRequest[] = [
  { method: 'POST', path: '/api/tour/todos', body: { title: 'Open the gates' } },
  { method: 'GET', path: '/api/tour/todos' },
];

const ERRORS: ApiRequest[] = [
  { method: 'POST', path: '/api/tour/todos', body: { title: '' } },
  { method: 'GET', path: '/api/tour/todos/999' },
  { method: 'DELETE', path: '/api/tour/todos' },
  { method: 'GET', path: '/api/tour/fail' },
];

export default function Api() {
  const todos = `${useHost()}/api/tour/todos`;
  return (
    <Page
      title="API"
      lead="The API answers with JSON, also for errors. These to-dos are kept in memory until the server restarts."
    >
      <noscript>
        <p>The buttons of this page need JavaScript.</p>
      </noscript>
      <Exhibit
        code={
          <>
            <Excerpt of={operation} />
            <Excerpt of={handler} />
          </>
        }
      >
        <h2>Read and write</h2>
        <p>
          An operation describes a method and a path. It checks requests and responses, and{' '}
          <a href="/api/docs">the reference</a> lists it.
        </p>
        <Ask requests={REQUESTS} />
      </Exhibit>
      <Exhibit code={<Excerpt of={client} />}>
        <h2>Call it from a page</h2>
        <AddTodo />
      </Exhibit>
      <Exhibit
        code={
          <Code title="Terminal">
            {[
              `curl ${todos} --json '{"title":"Open the gates"}'`,
              `curl ${todos}`,
              `curl -X PATCH ${todos}/1 --json '{"done":true}'`,
              `curl -X DELETE ${todos}/1`,
              `curl -i ${todos} --json '{"title":""}'`,
            ].join('\n')}
          </Code>
        }
      >
        <h2>Errors</h2>
        <p>
          Errors are <code>application/problem+json</code> (RFC 9457). A 422 names the fields, a 405 lists the allowed
          methods, and a failure has a digest instead of a message.
        </p>
        <Ask requests={ERRORS} />
      </Exhibit>
    </Page>
  );
}
