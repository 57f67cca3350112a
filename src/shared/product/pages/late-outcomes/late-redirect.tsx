import { useData } from '../../../engine/hooks.ts';
import { Late } from '../../../engine/late.tsx';
import { Page } from '../../ui/page.tsx';

export interface LateRedirectData {
  boat: Promise<string>;
}

export default function LateRedirect() {
  const { boat } = useData<LateRedirectData>();
  return (
    <Page
      title="Redirect, late"
      lead="The page was sent before its loader knew that you are wanted elsewhere. In a moment you are on the streaming page."
    >
      <Late value={boat} fallback={<p>Looking for the boat…</p>}>
        {(name) => <p>{name}</p>}
      </Late>
    </Page>
  );
}
