import { Outlet } from 'react-router';
import { Link } from '#engine';
import styles from './fail.module.css';

/** The layout of the pages that fail. Its server file answers 404 for all of them if `TOUR_FAILURES` is off. */
export default function Fail() {
  return (
    <>
      <p className={styles.back}>
        <Link to="/tour/failures">All failures</Link>
      </p>
      <Outlet />
    </>
  );
}
