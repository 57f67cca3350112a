import { describe, expect, it } from 'vitest';
import { createEarlyScript } from '../../../../src/server/pages/render/early-script.ts';

describe('the first script of a document', () => {
  it('cannot be ended by its settings', () => {
    const script = createEarlyScript({ tunnel: '/_report', build: 'a', release: '</script><script>alert(1)//<!--' });
    expect(script).not.toMatch(/<\/script|<script|<!--/);
    expect(script).toContain('"build":"a"');
  });
});
