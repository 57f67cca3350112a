import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { FailureHelp } from '../../../src/shared/rendering/error-view.tsx';

it('links to the failure for those who can open it', () => {
  const error = { kind: 'failure', status: 500, digest: '7K3QM2XA-9F4W0R6B' } as const;
  const link = renderToStaticMarkup(<FailureHelp error={{ ...error, url: '/failures/7K3QM2XA' }} />);
  expect(link).toContain('<a href="/failures/7K3QM2XA">');
  expect(renderToStaticMarkup(<FailureHelp error={error} />)).toBe('');
});
