import { createServer } from 'node:http';
import { renderToPipeableStream } from 'react-dom/server';
import { Page, path } from './product/page.tsx';

const server = createServer((_request, response) => {
  const { pipe } = renderToPipeableStream(<Page />, {
    onShellReady() {
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      pipe(response);
    },
    onError: console.error,
  });
});
server.listen(Number(process.env.PORT), '127.0.0.1', () =>
  console.log(`Listening on http://127.0.0.1:${process.env.PORT}${path}`),
);
