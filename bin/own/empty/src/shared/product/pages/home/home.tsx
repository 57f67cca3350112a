import styles from './home.module.css';

const FIRST = [
  { command: 'npm run dev', text: 'serves this app and shows each change as you save it.' },
  { command: 'npm run new -- page /about', text: 'writes a page, its half on the server, and its test.' },
  { command: 'npm run new -- api notes', text: 'writes a resource, /api/notes, and its test.' },
  { command: 'npm test', text: 'runs your tests; npm run test:all runs those of the engine too.' },
];

const PLACES = [
  { path: 'docs/guide/01-pages.md', text: 'Where the guide begins: from this page to an app, in twelve steps.' },
  { path: 'src/shared/product/pages/home/', text: 'This page. Change it first.' },
  { path: 'src/shared/product/pages/root/', text: 'The layout around every page, and the styles of all.' },
  { path: 'src/shared/product/routes.tsx', text: 'The list of pages.' },
  { path: 'src/server/product/pages/', text: 'What the server does for a page: guard, loader, actions.' },
  { path: 'src/server/product/api/', text: 'Resources under /api.' },
  { path: 'src/shared/product/error-pages.tsx', text: 'What a visitor sees when a page ends otherwise.' },
  { path: 'docs/architecture.md', text: 'What else there is to add, and where.' },
];

export default function Home() {
  return (
    <article>
      <title>Your app</title>
      <h1>Your app runs</h1>
      <p>It has this one page. From here on it is yours.</p>

      <h2>What to do first</h2>
      <ol className={styles.list}>
        {FIRST.map(({ command, text }) => (
          <li key={command}>
            <code className={styles.command}>{command}</code> {text}
          </li>
        ))}
      </ol>

      <h2>Where things are</h2>
      <dl className={styles.list}>
        {PLACES.map(({ path, text }) => (
          <div key={path}>
            <dt>
              <code>{path}</code>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </article>
  );
}
