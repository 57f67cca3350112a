import { useState } from 'react';
import { Page } from '../../ui/page.tsx';

export default function FailClient() {
  const [broken, setBroken] = useState(false);
  return (
    <Page
      title="Errors in the browser"
      lead="An error in an event handler leaves the page as it is. An error while rendering replaces the page."
    >
      <p>
        <button type="button" onClick={throwInHandler}>
          Throw in an event handler
        </button>
      </p>
      <p>
        <button type="button" onClick={() => setBroken(true)}>
          Throw in a component
        </button>
      </p>
      {broken && <Broken />}
    </Page>
  );
}

function throwInHandler(): never {
  throw new Error('The tour threw this in an event handler.');
}

function Broken(): never {
  throw new Error('The tour threw this in a component, in the browser.');
}
