import styles from './home.module.css';

const FIRST = [
  { command: 'npm run dev', text: 'serves this app and shows your changes as you save them.' },
  { command: 'npm run new -- page /about', text: 'creates a page, its server file and its test.' },
  { command: 'npm run new -- api tags', text: 'creates an API resource, /api/tags, and its test.' },
  { command: 'npm test', text: 'runs your tests. npm run test:all also runs the tests of Spillway.' },
];

const PLACES = [
  {
    path: 'docs/guide/01-pages.md',
    text: 'The guide. It builds an app step by step. accounts.md there is about accounts.',
  },
  { path: 'src/shared/product/pages/home/', text: 'This page. Change it first.' },
  { path: 'src/shared/product/pages/root/', text: 'The layout of every page, and the global styles.' },
  { path: 'src/shared/product/routes.tsx', text: 'The list of pages.' },
  { path: 'src/server/product/pages/', text: 'Loaders, guards and actions of the pages.' },
  {
    path: 'src/shared/product/api/',
    text: 'The operations of the API. Their handlers are in src/server/product/api/.',
  },
  { path: 'src/shared/product/error-pages.tsx', text: 'The pages that visitors see for errors.' },
  { path: 'docs/architecture.md', text: 'How Spillway works, and where to add things.' },
];

export default function Home() {
  return (
    <article>
      <title>Your app</title>
      <h1>Your app runs</h1>
      <p>Now it is yours.</p>

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
