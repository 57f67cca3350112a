import type { Debugger } from 'node:inspector';
import { Session } from 'node:inspector';
import { toFrameFile } from '../../../engine/errors/digest/frame-file.ts';
import type { StackFrame } from '../../../engine/errors/failure.ts';

/** Frames that are read (a count). */
const MAX_FRAMES = 50;

/**
 * Stops the main thread for a moment and reads what it is doing. The session lives for this question
 * alone: one that stayed would cost on every turn, and hold the process at its end.
 *
 * While native code runs (`execSync`, `pbkdf2Sync`) the answer comes when that returns.
 */
export function readMainThreadStack(folders: { dist: string }): Promise<readonly StackFrame[]> {
  return new Promise((resolve, reject) => {
    const session = new Session();
    session.connectToMainThread();
    // A call's own `url` is empty: the scripts, all told once the session is enabled, have it.
    const urls = new Map<string, string>();
    session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url));
    session.on('Debugger.paused', ({ params }) => {
      // Before anything else: the main thread waits for it.
      session.post('Debugger.resume', () => session.disconnect());
      resolve(params.callFrames.slice(0, MAX_FRAMES).map((frame) => toStackFrame(frame, urls, folders)));
    });
    session.post('Debugger.enable', (error) => {
      if (error) reject(error);
    });
    session.post('Debugger.pause', (error) => {
      if (error) reject(error);
    });
  });
}

function toStackFrame(
  { functionName, location }: Debugger.CallFrame,
  urls: ReadonlyMap<string, string>,
  folders: { dist: string },
): StackFrame {
  return {
    file: toFrameFile(urls.get(location.scriptId) ?? '', folders),
    line: location.lineNumber + 1,
    column: (location.columnNumber ?? 0) + 1,
    function: functionName,
  };
}
