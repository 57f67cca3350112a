import { Link } from '#engine';
import { Frame } from './frame.tsx';

/** The layout of static pages, which are the same for everyone. */
export default function Static() {
  return <Frame account={<Link to="/account">Your account</Link>} />;
}
