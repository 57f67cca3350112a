import { type SubmitEvent, useState } from 'react';
import styles from './ask.module.css';
import { Code } from './code.tsx';

interface Answer {
  path: string;
  status: string;
  body: string;
}

/** Asks addresses of this server and shows what they answer. Without JavaScript the browser goes there. */
export function Ask({ paths }: { paths: string[] }) {
  const [answer, setAnswer] = useState<Answer>();

  async function ask(event: SubmitEvent, path: string) {
    event.preventDefault();
    const response = await fetch(path);
    const type = response.headers.get('content-type') ?? '';
    setAnswer({ path, status: `${response.status} ${type.split(';')[0]}`, body: await response.text() });
  }

  return (
    <div className={styles.ask}>
      {paths.map((path) => (
        <form key={path} action={path} onSubmit={(event) => ask(event, path)}>
          <button type="submit" className="quiet">
            GET {path}
          </button>
        </form>
      ))}
      <div role="status">
        {answer && (
          <Code title={answer.path} note={answer.status}>
            {answer.body}
          </Code>
        )}
      </div>
    </div>
  );
}
