import type { TestShape } from '../../../shapes.ts';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Panel } from '../../../ui/panel.tsx';

/** A test that fails as this occurrence did. Without scripts, the text can be selected. */
export function TestPanel({ of: { file, text } }: { readonly of: TestShape }) {
  return (
    <Panel title="Test" aside={<CopyButton text={text}>Copy as test</CopyButton>}>
      <details>
        <summary>{file}</summary>
        <pre>{text}</pre>
      </details>
    </Panel>
  );
}
