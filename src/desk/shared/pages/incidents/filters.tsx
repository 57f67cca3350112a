import { Link } from '#engine';
import { Form } from '../../actions.ts';
import { KIND_WORDS, type Choice as Option, SORTS, WITHIN } from '../../choices.ts';
import { DESK_PATH, isFiltered, NO_FILTERS, toListHref, USUAL_VIEW } from '../../href.ts';
import type { IncidentsData, ViewShape } from '../../page-data.ts';
import styles from './filters.module.css';

/** A GET form, so that the URL contains the view. */
export function Filters({ view, choices }: Pick<IncidentsData, 'view' | 'choices'>) {
  return (
    <Form method="get" to={DESK_PATH} key={toListHref(view)} className={styles.filters} aria-label="Filters">
      {view.state !== USUAL_VIEW.state && <input type="hidden" name="state" value={view.state} />}
      {view.search !== '' && <input type="hidden" name="search" value={view.search} />}
      {view.environment !== '' && <input type="hidden" name="environment" value={view.environment} />}
      <Choice name="sort" label="Sort by" view={view} of={SORTS} />
      <Choice name="within" label="Period" view={view} of={WITHIN} any="All time" />
      <details className={styles.more} open={FOLDED.some((name) => view[name] !== '')}>
        <summary>Filters</summary>
        <div className={styles.choices}>
          <Choice name="side" label="Side" view={view} of={[same('server'), same('browser')]} any="Any" />
          <Choice name="kind" label="Kind" view={view} of={Object.entries(KIND_WORDS)} any="Any" />
          <Choice name="route" label="Route" view={view} of={choices.routes.map(same)} any="Any" />
          <Choice name="release" label="Release" view={view} of={choices.releases.map(same)} any="Any" />
        </div>
      </details>
      <button type="submit">Show</button>
      {isFiltered(view) && (
        <p className={styles.said}>
          {view.search && (
            <>
              Results for <strong>{view.search}</strong>.{' '}
            </>
          )}
          <Link to={toListHref(view, NO_FILTERS)}>Clear filters</Link>
        </p>
      )}
    </Form>
  );
}

const FOLDED = ['side', 'kind', 'route', 'release'] as const;

function same(value: string): Option {
  return [value, value];
}

interface ChoiceProps {
  readonly name: Exclude<keyof ViewShape, 'search' | 'state' | 'environment'>;
  readonly label: string;
  readonly view: ViewShape;
  readonly of: readonly Option[];
  /** Label of the empty choice. Without it, the first option is the default. */
  readonly any?: string;
}

/** Also offers the current value if it is not in the list, such as a deleted release. */
function Choice({ name, label, view, of: options, any }: ChoiceProps) {
  const asked = view[name];
  const offered = asked === '' || options.some(([value]) => value === asked) ? options : [same(asked), ...options];
  if (any !== undefined && offered.length === 0) return null;
  return (
    <label className={styles.choice}>
      <span>{label}</span>
      <select name={name} defaultValue={asked}>
        {any !== undefined && <option value="">{any}</option>}
        {offered.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
