import { Outlet } from 'react-router';
import './global.css';

export default function ProseLayout() {
  return (
    <main id="main">
      <Outlet />
    </main>
  );
}
