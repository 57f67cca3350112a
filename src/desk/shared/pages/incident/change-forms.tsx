import { Form, useActionResult } from '../../actions.ts';
import { IGNORE_CHOICES, type Choice as Option, RESOLVE_CHOICES, STATE_WORDS } from '../../choices.ts';
import type { IncidentData } from '../../page-data.ts';
import { Panel } from '../../ui/panel.tsx';
import { toStateDetail } from '../../words.ts';
import styles from './change-forms.module.css';

/** Forms to resolve, ignore and reopen, with the result of the last one. */
export function ChangeForms({ of: data }: { readonly of: IncidentData }) {
  const { status } = data;
  return (
    <section className={styles.forms} aria-label="Change">
      {status.state !== 'resolved' && (
        <Form action="incident.resolve" preventScrollReset>
          <button type="submit" className="main">
            Resolve
          </button>
          <Choice name="when" label="Resolved" of={RESOLVE_CHOICES} />
        </Form>
      )}
      {status.state !== 'ignored' && (
        <Form action="incident.ignore" preventScrollReset>
          <button type="submit">Ignore</button>
          <Choice name="how" label="Ignored" of={IGNORE_CHOICES} />
        </Form>
      )}
      {status.state !== 'open' && (
        <Form action="incident.reopen" preventScrollReset>
          <button type="submit">Reopen</button>
        </Form>
      )}
      <Said status={status} />
    </section>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly of: readonly Option[];
}

function Choice({ name, label, of: choices }: ChoiceProps) {
  return (
    <select name={name} aria-label={label}>
      {choices.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </select>
  );
}

/** The result of the last action. */
function Said({ status }: { readonly status: IncidentData['status'] }) {
  const outcomes = [
    useActionResult('incident.resolve'),
    useActionResult('incident.ignore'),
    useActionResult('incident.reopen'),
    useActionResult('incident.addNote'),
    useActionResult('incident.removeNote'),
  ];
  const outcome = outcomes.find((said) => said !== undefined);
  const refused = outcome?.errors?.[''] ?? Object.values(outcome?.errors ?? {})[0];
  const detail = toStateDetail(status);
  return (
    <p className={styles.said} role="status">
      {refused && <strong className={styles.refused}>{refused}</strong>}
      {outcome?.data && <strong>{outcome.data.words}</strong>}
      {!outcome && (
        // For screen readers only: others see the state in the page's head.
        <span className="unseen">{`${STATE_WORDS[status.state]}${detail && ` ${detail}`}.`}</span>
      )}
    </p>
  );
}

/** Deleting is rare, so it is last, and it takes two clicks. */
export function Removal({ of: data }: { readonly of: IncidentData }) {
  return (
    <Panel title="Delete">
      {data.shown && (
        <details className={styles.removal}>
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
      <details className={styles.removal}>
        <summary>Delete the incident</summary>
        <Form action="incident.remove">
          <p>This deletes its occurrences, counts and notes. If it happens again, it is a new incident.</p>
          <button type="submit" className="grave">
            Delete the incident
          </button>
        </Form>
      </details>
    </Panel>
  );
}
