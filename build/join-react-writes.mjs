// React's Node stream encodes every small string of a page into a 4 KB view, which costs as much as
// rendering it (react/react#24232, #24291). The rewritten functions join the strings and hand the
// destination one string of about 16 KB instead: the same bytes for two thirds of the CPU. Where a
// boundary is weighed for streaming on its own, its size counts UTF-16 units instead of bytes.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** From here to `writersEnd` React's text must be exactly the one that was read when this was written. */
const writersStart = 'var currentView = null,\n';
const writersEnd = 'var assign = Object.assign,';
const writersHash = 'abb00cba858ce133';

/** `beginWriting`, which React's compiler inlined in two places that differ in indentation. */
const beginWriting = /currentView = new Uint8Array\(4096\);\n\s+writtenBytes = 0;\n/g;
const beginWritingPlaces = 2;

/**
 * React sets an immediate for each page, which ends its first phase and sends early hints. Every page
 * that is rendered in this turn of the event loop stays in memory until then, and outlives the
 * collector's young generation. A page that is complete by now needs neither.
 */
const startOfWork = `  scheduleMicrotask(function () {
    return requestStorage.run(request, performWork, request);
  });
  setImmediate(function () {
    10 === request.status && (request.status = 11);
    null === request.trackedPostpones &&
      requestStorage.run(
        request,
        enqueueEarlyPreloadsAfterInitialWork,
        request
      );
  });
`;
const startOfUnfinishedWork = `  scheduleMicrotask(function () {
    requestStorage.run(request, performWork, request);
    0 !== request.allPendingTasks && endOpening(request);
  });
`;
const endOpening = `function endOpening(request) {
  setImmediate(function () {
    10 === request.status && (request.status = 11);
    null === request.trackedPostpones &&
      requestStorage.run(
        request,
        enqueueEarlyPreloadsAfterInitialWork,
        request
      );
  });
}
`;

/**
 * The joined string is taken and cleared *before* it is written: a destination that throws would
 * otherwise leave the text of one visitor's page to be sent with the next one's.
 */
const joinedWriters = `var joinedText = "",
  destinationHasCapacity$1 = !0;
function writeChunk(destination, chunk) {
  if ("string" === typeof chunk) {
    joinedText += chunk;
    16384 <= joinedText.length && writeJoined(destination);
  } else if (0 !== chunk.byteLength) {
    "" !== joinedText && writeJoined(destination);
    writeToDestination(destination, chunk);
  } else if (supportsArrayBufferDetached && chunk.buffer.detached)
    throw Error("Cannot transport a detached buffer.");
}
function writeJoined(destination) {
  var text = joinedText;
  joinedText = "";
  writeToDestination(destination, text);
}
function writeToDestination(destination, view) {
  destination = destination.write(view);
  destinationHasCapacity$1 = destinationHasCapacity$1 && destination;
}
function writeChunkAndReturn(destination, chunk) {
  writeChunk(destination, chunk);
  return destinationHasCapacity$1;
}
function completeWriting(destination) {
  var text = joinedText;
  joinedText = "";
  destinationHasCapacity$1 = !0;
  "" !== text && destination.write(text);
}
var textEncoder = new util.TextEncoder();
function stringToPrecomputedChunk(content) {
  return content;
}
function byteLengthOfChunk(chunk) {
  return "string" === typeof chunk ? chunk.length : chunk.byteLength;
}
`;

/**
 * @param {string} source the text of `react-dom-server.node.production.js`
 * @returns {{ code: string, joined: boolean }} the source itself and `false` where React's text is not the expected one
 */
export function joinReactWrites(source) {
  const plain = { code: source, joined: false };
  const start = source.indexOf(writersStart);
  const end = source.indexOf(writersEnd);
  if (start < 0 || end < start || hash(source.slice(start, end)) !== writersHash) return plain;

  const rest = source.slice(end);
  if (rest.match(beginWriting)?.length !== beginWritingPlaces) return plain;
  if (rest.split(startOfWork).length !== 2) return plain;
  const joinedRest = rest.replace(beginWriting, 'joinedText = "";\n').replace(startOfWork, startOfUnfinishedWork);
  const code = source.slice(0, start) + joinedWriters + endOpening + joinedRest;
  // A use that is not known here would see a view that no longer exists.
  return /\b(currentView|writtenBytes)\b/.test(code) ? plain : { code, joined: true };
}

/**
 * @param {{ warn: (sentence: string) => void }} options
 * @returns {import('esbuild').Plugin}
 */
export function joinReactWritesPlugin({ warn }) {
  return {
    name: 'join-react-writes',
    setup(build) {
      build.onLoad({ filter: /react-dom-server\.node\.production\.js$/ }, async ({ path }) => {
        const { code, joined } = joinReactWrites(await readFile(path, 'utf8'));
        if (!joined) {
          warn(
            "This react-dom's stream is not the one that build/join-react-writes.mjs knows, so it is used as it is: pages cost more CPU. Review the file against the new react-dom, or set SPILLWAY_JOIN=0 to build without it.",
          );
        }
        return { contents: code, loader: 'js' };
      });
    },
  };
}

function hash(text) {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
