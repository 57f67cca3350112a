import { Form, useActionResult } from '../../actions.ts';
import type { IncidentData } from '../../shapes.ts';
import { Panel } from '../../ui/panel.tsx';
import styles from './removal.module.css';

/** Merging and deleting. They are rare, so they are last, and deleting takes two clicks. */
export function Removal({ of: data }: { readonly of: IncidentData }) {
  return (
    <Panel title="Merge or delete">
      <Merge of={data} />
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
          <p>This deletes its occurrences, counts, notes and feedback. If it happens again, it is a new incident.</p>
          <input type="hidden" name="version" value={data.version} />
          <button type="submit" className="grave">
            Delete the incident
          </button>
        </Form>
      </details>
    </Panel>
  );
}

function Merge({ of: { version, merged } }: { readonly of: IncidentData }) {
  const outcome = useActionResult('incident.merge');
  const error = outcome?.errors?.into;
  const typed = outcome?.errors ? outcome.values?.into : undefined;
  return (
    <>
      <Form action="incident.merge" className={styles.merge} preventScrollReset>
        <input type="hidden" name="version" value={version} />
        <label htmlFor="into">Merge into</label>
        <input
          id="into"
          name="into"
          className={styles.digest}
          placeholder="7K3QM2XA"
          defaultValue={typeof typed === 'string' ? typed : ''}
          maxLength={40}
          required
          autoComplete="off"
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? 'into-error' : undefined}
        />
        <button type="submit">Merge</button>
        {error && (
          <p id="into-error" className={styles.error}>
            {error}
          </p>
        )}
      </Form>
      {merged.length > 0 && (
        <ul className={styles.merged}>
          {merged.map((digest) => (
            <li key={digest}>
              <Form action="incident.separate" className={styles.merge} preventScrollReset>
                <input type="hidden" name="version" value={version} />
                <input type="hidden" name="digest" value={digest} />
                <span>
                  <code>{digest}</code> was merged into this.
                </span>
                <button type="submit" aria-label={`Unmerge: ${digest}`}>
                  Unmerge
                </button>
              </Form>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
