import { type HeapProfiler, Session } from 'node:inspector';
import { toFrameFile } from '../../engine/errors/digest/frame-file.ts';
import type { StackFrame } from '../../engine/errors/failure.ts';
import { HEAP_SAMPLE_BYTES } from '../limits.ts';
import { attributeGrowth, type IsOurs, type SampledNode } from './attribute-growth.ts';
import type { HeapSampler } from './heap-watch.ts';

export interface MainThreadHeapOptions {
  /** The folder of the build. */
  readonly dist: string;
  /** Asked anew for each look: the table may have been read by then. */
  readonly isOurs: () => Promise<IsOurs>;
}

/**
 * Has V8 sample what the main thread allocates. The session lives until `end`: V8 forgets the samples
 * with it, and what is asked of a session that ended is never answered. A process that exits before
 * does not wait for it, but Node writes a line about a debugger then.
 */
export function sampleMainThreadHeap({ dist, isOurs }: MainThreadHeapOptions): HeapSampler {
  const session = new Session();
  const begun = begin();
  begun.catch(() => undefined); // `read` tells.

  async function begin(): Promise<void> {
    session.connectToMainThread();
    await new Promise<void>((resolve, reject) => {
      session.post('HeapProfiler.startSampling', { samplingInterval: HEAP_SAMPLE_BYTES }, (error) =>
        error ? reject(error) : resolve(),
      );
    });
  }

  function ask(): Promise<HeapProfiler.SamplingHeapProfile> {
    return new Promise((resolve, reject) => {
      session.post('HeapProfiler.getSamplingProfile', (error, answer) =>
        error ? reject(error) : resolve(answer.profile),
      );
    });
  }

  return {
    async read() {
      await begun;
      const { head } = await ask();
      return attributeGrowth(toSampledNode(head, dist), await isOurs());
    },
    end: () => session.disconnect(),
  };
}

function toSampledNode(node: HeapProfiler.SamplingHeapProfileNode, dist: string): SampledNode {
  return {
    frame: toStackFrame(node, dist),
    bytes: node.selfSize,
    children: node.children.map((child) => toSampledNode(child, dist)),
  };
}

function toStackFrame({ callFrame }: HeapProfiler.SamplingHeapProfileNode, dist: string): StackFrame {
  const { url, lineNumber, columnNumber, functionName } = callFrame;
  // V8 counts from 0, and has -1 for what is no function of a script.
  return { file: toFrameFile(url, { dist }), line: lineNumber + 1, column: columnNumber + 1, function: functionName };
}
