import { toPlural } from '../../../../../shared/words.ts';
import type { ComponentShape } from '../../../shapes.ts';
import { Panel } from '../../../ui/panel.tsx';
import styles from './components.module.css';

/** Components that are shown: at most, and if no component of the engine follows the app's. */
const MOST_SHOWN = 12;
const SHOWN = 6;

/** React's component stack, innermost first. Components from the engine's first one outwards are folded. */
export function Components({ of: components }: { readonly of: readonly ComponentShape[] }) {
  const own = components.findIndex(({ place, isOwn }) => place !== '' && !isOwn);
  const shown = own <= 0 ? SHOWN : Math.min(own, MOST_SHOWN);
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
