import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import type { FailureHelpProps } from '../../../../src/shared/engine/rendering/engine-context.ts';
import { type Engine, EngineContext } from '../../../../src/shared/engine/rendering/engine-context.ts';
import { FailureHelp } from '../../../../src/shared/engine/rendering/failure-help.tsx';
import FailureHelpView from '../../../../src/shared/engine/rendering/failure-help-view.tsx';

const ERROR = { kind: 'failure', status: 500, digest: '7K3QM2XA-9F4W0R6B' } as const;

function render(props: FailureHelpProps, failureHelp: Engine['failureHelp'] = FailureHelpView): string {
  const engine = { failureHelp } as Partial<Engine> as Engine; // nothing else is read
  return renderToStaticMarkup(
    <EngineContext value={engine}>
      <FailureHelp {...props} />
    </EngineContext>,
  );
}

it('asks what the visitor was doing, in a form that works without scripts', () => {
  const html = render({ error: ERROR });
  expect(html).toMatch(/<form[^>]* action="\?_feedback" method="post"/);
  expect(html).toContain('name="address" value="7K3QM2XA-9F4W0R6B"');
  expect(html).toMatch(/<textarea name="text" rows="3" required="" maxLength="4096">/);
  expect(html).toMatch(/<label hidden="">Leave this empty<input tabindex="-1"[^>]*name="website"/i);
  expect(html).not.toContain('/failures/');
});

it('links to the failure for those who can open it, with or without the form', () => {
  expect(render({ error: { ...ERROR, url: '/failures/7K3QM2XA' } })).toContain('<a href="/failures/7K3QM2XA">');
  const html = render({ error: { ...ERROR, url: '/failures/7K3QM2XA' }, form: false });
  expect(html).toContain('<a href="/failures/7K3QM2XA">');
  expect(html).not.toContain('<form');
});

it('renders nothing without an address, or outside an engine context', () => {
  expect(render({ error: { kind: 'failure', status: 500, inBrowser: true } })).toBe('');
  expect(renderToStaticMarkup(<FailureHelp error={ERROR} />)).toBe('');
});
