import type { ComponentShape } from '../../shapes.ts';
import { Panel } from '../../ui/panel.tsx';
import { toPlural } from '../../words.ts';
import styles from './components.module.css';

/** Components that are shown at once (counts): at most, and where none is the application's own. */
const MOST_SHOWN = 12;
const SHOWN = 6;

/** React's components around it, innermost first, out to the outermost one of the application. */
export function Components({ of: components }: { readonly of: readonly ComponentShape[] }) {
  const last = components.findLastIndex(({ isOwn }) => isOwn);
  const shown = last === -1 ? SHOWN : Math.min(last + 1, MOST_SHOWN);
  const outer = components.slice(shown);
  return (
    <Panel title="Components around it">
      <List of={components.slice(0, shown)} />
      {outer.length > 0 && (
        <details>
          <summary>{`${toPlural(outer.length, 'component')} further out`}</summary>
          <List of={outer} />
        </details>
      )}
    </Panel>
  );
}

function List({ of: components }: { readonly of: readonly ComponentShape[] }) {
  return (
    <ol className={styles.list}>
      {components.map(({ name, place }, index) => (
        <li key={index}>
          <code>{`<${name}>`}</code> {place && <code className={styles.place}>{place}</code>}
        </li>
      ))}
    </ol>
  );
}
