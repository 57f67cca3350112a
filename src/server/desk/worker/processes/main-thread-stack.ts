import type { Debugger } from 'node:inspector';
import { Session } from 'node:inspector';
import { toFrameFile } from '../../../engine/errors/digest/frame-file.ts';
import type { StackFrame } from '../../../engine/errors/failure.ts';

/** The most frames that are read. */
const MAX_FRAMES = 50;

/**
 * Pauses the main thread briefly and reads its stack. The inspector session is closed afterwards, because an
 * open one slows down every turn of the event loop and delays the end of the process.
 *
 * If native code is running (`execSync`, `pbkdf2Sync`), the promise resolves when that returns.
 */
export function readMainThreadStack(folders: { dist: string }): Promise<readonly StackFrame[]> {
  return new Promise((resolve, reject) => {
    const session = new Session();
    session.connectToMainThread();
    // The `url` of a call frame is empty, so this collects the URLs of all scripts, which are sent on enable.
    const urls = new Map<string, string>();
    session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url));
    session.on('Debugger.paused', ({ params }) => {
      // First, because the main thread is paused until then.
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
