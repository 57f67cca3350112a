import Root from './root.tsx';

/** The layout of static pages, which are the same for everyone. */
export default function Static() {
  return <Root />;
}
