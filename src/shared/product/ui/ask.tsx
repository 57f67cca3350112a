import { useState } from 'react';
import styles from './ask.module.css';
import { Code } from './code.tsx';

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  /** Sent as JSON. */
  body?: object;
}

interface Answer {
  title: string;
  status: string;
  body: string;
}

/** Sends requests to this server and shows the responses. */
export function Ask({ requests }: { requests: ApiRequest[] }) {
  const [answer, setAnswer] = useState<Answer>();

  async function send({ method, path, body }: ApiRequest) {
    const headers = body && { 'Content-Type': 'application/json' };
    const title = `${method} ${path}`;
    const response = await fetch(path, { method, headers, body: body && JSON.stringify(body) }).catch(() => undefined);
    if (!response) return setAnswer({ title, status: 'not sent', body: 'Check your connection, then try again.' });
    const type = response.headers.get('content-type') ?? '';
    setAnswer({
      title,
      status: `${response.status} ${type.split(';')[0]}`,
      body: await response.text(),
    });
  }

  return (
    <div className={styles.ask}>
      {requests.map((request) => {
        const { method, path, body } = request;
        const text = [method, path, body && JSON.stringify(body)].filter(Boolean).join(' ');
        return (
          <button key={text} type="button" className="quiet" onClick={() => send(request)}>
            {text}
          </button>
        );
      })}
      <div role="status">
        {answer && (
          <Code title={answer.title} note={answer.status}>
            {answer.body}
          </Code>
        )}
      </div>
    </div>
  );
}
