import { Outlet } from 'react-router';
import { Link } from '#engine';
import styles from './fail.module.css';

/** Around the pages that fail; its server half answers 404 for all of them where `TOUR_FAILURES` is off. */
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
