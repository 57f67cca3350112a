import { useHost } from '../../../engine/hooks.ts';
import { Code } from '../../ui/code.tsx';
import { Page } from '../../ui/page.tsx';

export default function Api() {
  const todos = `${useHost()}/api/tour/todos`;
  return (
    <Page
      title="API"
      lead="Whatever is under /api is JSON: resources, errors, and what is not there. The to-do list below lives in memory until the server restarts."
    >
      <h2>Read and write</h2>
      <Code file="Terminal">{`
curl ${todos}
curl ${todos} --json '{"title":"Open the gates"}'
curl ${todos}/1
curl -X PATCH ${todos}/1 --json '{"done":true}'
curl -X DELETE ${todos}/1
`}</Code>
      <h2>What is wrong is a problem</h2>
      <p>
        Errors are <code>application/problem+json</code> (RFC 9457): 422 names the fields, 405 says what is allowed, and
        a failure carries its digest instead of its message.
      </p>
      <Code file="Terminal">{`
curl -i ${todos} --json '{"title":""}'
curl -i -X PUT ${todos}
curl -i ${todos}/999
curl -i ${todos.replace('todos', 'nothing')}
curl -i ${todos.replace('todos', 'fail')}
`}</Code>
      <Code file="src/server/product/api/todos/router.ts">{`
resource('/todos', {
  GET: (_request, response) => {
    response.json(todos.list().map(presentTodo));
  },
})
`}</Code>
    </Page>
  );
}
