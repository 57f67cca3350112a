import { Outlet, useLocation, useNavigation } from 'react-router';
import { ErrorView, Link, NavLink, type PageProps, usePageError } from '#engine';
import { Form, submitAs } from '../../actions.ts';
import { DESK_PATH, toListHref, USUAL_VIEW } from '../../href.ts';
import { TOO_MANY } from '../../ticket.ts';
import { LiveMark } from '../../ui/live-mark.tsx';
import '../../ui/theme.css';
import styles from './root.module.css';
import { SignInForm } from './sign-in-form.tsx';

export interface RootData {
  /** The name of the user. */
  readonly name: string;
  /** False for viewers. */
  readonly canChange: boolean;
  /** False if a proxy signs operators in. */
  readonly canSignOut: boolean;
  /** This server's environment. */
  readonly environment: string;
  /** All environments in the store. */
  readonly environments: readonly string[];
  readonly release: string;
  /** Whether failures are recorded but not yet stored. */
  readonly isArriving: boolean;
}

/** The layout of the desk's pages. */
export default function Root({ data }: PageProps<RootData>) {
  const scope = useScope();
  return (
    <>
      <a className={styles.skip} href="#main">
        Skip to content
      </a>
      {useNavigation().state !== 'idle' && <div role="progressbar" aria-label="Loading" className={styles.loading} />}
      <header className={styles.header}>
        <NavLink className={styles.brand} to={toListHref(USUAL_VIEW, { environment: scope })} prefetch="intent">
          Desk
        </NavLink>
        <div className={styles.where}>
          <Environments shown={scope || data.environment} {...data} />{' '}
          <span className={styles.release} title={`Release ${data.release}`}>
            {data.release}
          </span>
          <LiveMark />
          {data.isArriving && (
            <span className={styles.arriving} title="Failures that are recorded but not yet stored">
              More arriving
            </span>
          )}
        </div>
        <Search />
        <SignedIn {...data} />
      </header>
      <main id="main" className={styles.main} tabIndex={-1}>
        <Outlet />
      </main>
    </>
  );
}

/** Returns the environment in the URL, or an empty string for this server's. */
function useScope(): string {
  const { search } = useLocation();
  return new URLSearchParams(search).get('environment') ?? '';
}

interface EnvironmentsProps extends Pick<RootData, 'environment' | 'environments'> {
  readonly shown: string;
}

/** Each environment has its own incidents, so the desk shows one at a time. */
function Environments({ shown, environment, environments }: EnvironmentsProps) {
  const others = environments.filter((name) => name !== shown);
  if (others.length === 0) return <span className={styles.environment}>{shown}</span>;
  return (
    <details className={styles.environments} key={shown}>
      <summary className={styles.environment} title="Show another environment">
        {shown}
      </summary>
      <ul>
        {others.map((name) => (
          <li key={name}>
            <Link to={toListHref(USUAL_VIEW, { environment: name === environment ? '' : name })}>{name}</Link>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Search() {
  const { search } = useLocation();
  const asked = new URLSearchParams(search).get('search') ?? '';
  const scope = useScope();
  return (
    <search className={styles.search}>
      <Form method="get" to={DESK_PATH}>
        {scope !== '' && <input type="hidden" name="environment" value={scope} />}
        <input
          key={asked}
          type="search"
          name="search"
          defaultValue={asked}
          placeholder="Message, address or request id"
          aria-label="Search incidents"
          aria-keyshortcuts="/"
        />
      </Form>
    </search>
  );
}

function SignedIn({ name, canChange, canSignOut }: RootData) {
  return (
    <div className={styles.who}>
      {canChange && <NavLink to="/desk/notifications">Notifications</NavLink>}
      <span className={styles.name} title={canChange ? 'Operator' : 'Viewer (read-only)'}>
        {name}
      </span>
      {canSignOut && (
        // A full page load, so that scripts keep no data of the desk.
        <form method="post" action={DESK_PATH}>
          <button {...submitAs('root.signOut')}>Sign out</button>
        </form>
      )}
    </div>
  );
}

/** Shown instead of the desk: the sign-in form, or why signing in is not possible. */
export function ErrorBoundary() {
  const error = usePageError();
  if (error.kind === 'unauthorized') return <SignInForm />;
  if (error.message === TOO_MANY) return <SignInForm refusal={error.message} />;
  return (
    <main id="main" className={styles.main} tabIndex={-1}>
      <ErrorView error={error} />
    </main>
  );
}
