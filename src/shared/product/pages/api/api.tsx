import list from 'excerpt:src/server/product/api/todos/router.ts#list';
import { useHost } from '#engine';
import { Ask } from '../../ui/ask.tsx';
import { Code } from '../../ui/code.tsx';
import { CodeLines } from '../../ui/code-lines.tsx';
import { Excerpt } from '../../ui/excerpt.tsx';
import { Exhibit } from '../../ui/exhibit.tsx';
import { Page } from '../../ui/page.tsx';

export default function Api() {
  const todos = `${useHost()}/api/tour/todos`;
  return (
    <Page
      title="API"
      lead="Whatever is under /api is JSON: resources, errors, and what is not there. The to-do list below lives in memory until the server restarts."
    >
      <Exhibit code={<Excerpt of={list} />}>
        <h2>Ask</h2>
        <p>
          Errors are <code>application/problem+json</code> (RFC 9457): 422 names the fields, 405 says what is allowed,
          and a failure carries its digest instead of its message.
        </p>
        <Ask paths={['/api/tour/todos', '/api/tour/todos/999', '/api/tour/nothing', '/api/tour/fail']} />
      </Exhibit>
      <Exhibit
        code={
          <>
            <Code title="Terminal">
              <CodeLines
                of={toLines([
                  `curl ${todos}`,
                  `curl ${todos} --json '{"title":"Open the gates"}'`,
                  `curl ${todos}/1`,
                  `curl -X PATCH ${todos}/1 --json '{"done":true}'`,
                  `curl -X DELETE ${todos}/1`,
                ])}
              />
            </Code>
            <Code title="Terminal">
              <CodeLines of={toLines([`curl -i ${todos} --json '{"title":""}'`, `curl -i -X PUT ${todos}`])} />
            </Code>
          </>
        }
      >
        <h2>Read and write</h2>
        <p>The same from a terminal, where you can write too.</p>
      </Exhibit>
    </Page>
  );
}

const toLines = (lines: string[]) => [lines.join('\n')];
