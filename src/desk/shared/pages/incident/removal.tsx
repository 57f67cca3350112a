import { Form } from '../../actions.ts';
import type { IncidentData } from '../../page-data.ts';
import { Panel } from '../../ui/panel.tsx';
import styles from './removal.module.css';

/** Deleting is rare, so it is last, and it takes two clicks. */
export function Removal({ of: data }: { readonly of: IncidentData }) {
  return (
    <Panel title="Delete">
      {data.shown && (
        <details className={styles.part}>
          <summary>Delete this occurrence</summary>
          <Form action="incident.removeOccurrence">
            <p>{`This deletes everything about ${data.shown.occurrence}. It is still counted.`}</p>
            <input type="hidden" name="occurrence" value={data.shown.occurrence} />
            <button type="submit" className="grave">
              Delete the occurrence
            </button>
          </Form>
        </details>
      )}
      <details className={styles.part}>
        <summary>Delete the incident</summary>
        <Form action="incident.remove">
          <p>This deletes its occurrences, counts and notes. If it happens again, it is a new incident.</p>
          <input type="hidden" name="version" value={data.version} />
          <button type="submit" className="grave">
            Delete the incident
          </button>
        </Form>
      </details>
    </Panel>
  );
}
