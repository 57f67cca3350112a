import { useState } from 'react';
import { Code } from '../../ui/code.tsx';

/** Requests this page twice: without its ETag, then with it. */
export function Again() {
  const [answers, setAnswers] = useState<string[]>([]);

  async function ask() {
    const first = await askFor();
    const second = await askFor(first.headers.get('etag'));
    setAnswers([await toText(first), await toText(second)]);
  }

  return (
    <>
      <p>
        <button type="button" onClick={ask}>
          Request it without its ETag, then with it
        </button>
      </p>
      <div role="status">{answers.length > 0 && <Code title="GET /tour/static">{answers.join('\n\n')}</Code>}</div>
    </>
  );
}

function askFor(etag?: string | null) {
  const headers = etag ? { 'If-None-Match': etag } : undefined;
  return fetch('/tour/static', { headers, cache: 'no-store' });
}

async function toText(response: Response) {
  const { size } = await response.blob();
  return `${response.status}, ${size} bytes\nETag: ${response.headers.get('etag')}`;
}
