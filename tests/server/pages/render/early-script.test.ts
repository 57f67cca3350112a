import { expect, it } from 'vitest';
import { createEarlyScript } from '../../../../src/server/pages/render/early-script.ts';

it('the first script of a document cannot be ended by its settings', () => {
  const script = createEarlyScript({ tunnel: '/_report', build: 'a', release: '</script><script>alert(1)//<!--' });
  expect(script).not.toMatch(/<\/script|<script|<!--/);
  expect(script).toContain('"build":"a"');
});
