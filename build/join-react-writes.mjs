// React's Node stream keeps a page as thousands of small strings and encodes each of them into a 4 KB view, which costs
// as much as rendering it (react/react#24232, #24291). With these changes, a segment of a page is one growing string, and
// the destination receives strings of 16 KB and more. The bytes are the same. Decision 003 has the figures.
// When React decides whether to stream a boundary separately, the boundary's size is in UTF-16 code units, not bytes.
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** From here to `writersEnd`, React's source must be exactly the expected text. */
const writersStart = 'var currentView = null,\n';
const writersEnd = 'var assign = Object.assign,';
const writersHash = 'abb00cba858ce133';

/** `beginWriting`, which React's compiler inlined in two places with different indentation. */
const beginWriting = /currentView = new Uint8Array\(4096\);\n\s+writtenBytes = 0;\n/g;
const beginWritingPlaces = 2;

/**
 * Further replacements. Each text must occur exactly once.
 *
 * @type {readonly (readonly [before: string, after: string])[]}
 */
const rewrites = [
  // Appends to a segment's text while it renders, so that no pieces are stored and iterated later.
  [
    `    index: index,
    chunks: [],
    children: [],
`,
    `    index: index,
    chunks: new SegmentText(),
    children: [],
`,
  ],
  [
    `    segment = segment.chunks;
    for (var segmentByteSize = 0, i = 0; i < segment.length; i++)
      segmentByteSize += byteLengthOfChunk(segment[i]);
`,
    `    var segmentByteSize = segment.chunks.length;
`,
  ],
  [
    `        chunks = segment.chunks,
        chunkIdx = 0;
      segment = segment.children;
      for (var childIdx = 0; childIdx < segment.length; childIdx++) {
        for (r = segment[childIdx]; chunkIdx < r.index; chunkIdx++)
          writeChunk(destination, chunks[chunkIdx]);
        r = flushSegment(request, destination, r, hoistableState);
      }
      for (; chunkIdx < chunks.length - 1; chunkIdx++)
        writeChunk(destination, chunks[chunkIdx]);
      chunkIdx < chunks.length &&
        (r = writeChunkAndReturn(destination, chunks[chunkIdx]));
`,
    `        text = segment.chunks.text,
        written = 0;
      segment = segment.children;
      for (var childIdx = 0; childIdx < segment.length; childIdx++) {
        r = segment[childIdx];
        written < r.index && writeChunk(destination, text.slice(written, r.index));
        written = r.index;
        r = flushSegment(request, destination, r, hoistableState);
      }
      written < text.length && (r = writeChunkAndReturn(destination, text.slice(written)));
`,
  ],
  // React schedules an immediate for each page, which ends its first phase and sends early hints. Until then, every page
  // that is rendered in this turn of the event loop stays in memory, and outlives the collector's young generation. A
  // page that is already complete does not need the immediate.
  [
    `  scheduleMicrotask(function () {
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
`,
    `  scheduleMicrotask(function () {
    requestStorage.run(request, performWork, request);
    0 !== request.allPendingTasks && endOpening(request);
  });
`,
  ],
];

/** Replaces a segment's array of chunks with one string. The position of a child is an index into the string. */
const segmentText = `function SegmentText() {
  this.text = "";
}
SegmentText.prototype = {
  push: function (a, b, c, d, e) {
    if (1 === arguments.length) this.text += a;
    else if (5 === arguments.length) this.text += a + b + c + d + e; // an attribute
    else for (var i = 0; i < arguments.length; i++) this.text += arguments[i];
  },
  get length() {
    return this.text.length;
  },
  set length(length) {
    this.text = this.text.slice(0, length);
  }
};
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
 * The joined string is cleared *before* it is written. Otherwise, if the destination throws, the text of one visitor's
 * page would be sent with the next visitor's page.
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
 * @returns {{ code: string, joined: boolean }} the unchanged source and `false` if React's text is not the expected one
 */
export function joinReactWrites(source) {
  const plain = { code: source, joined: false };
  const start = source.indexOf(writersStart);
  const end = source.indexOf(writersEnd);
  if (start < 0 || end < start || hash('sha256', source.slice(start, end)).slice(0, 16) !== writersHash) return plain;

  const rest = source.slice(end);
  if (rest.match(beginWriting)?.length !== beginWritingPlaces) return plain;
  let code = rest.replace(beginWriting, 'joinedText = "";\n');
  for (const [before, after] of rewrites) {
    if (code.split(before).length !== 2) return plain;
    code = code.replace(before, () => after);
  }
  code = source.slice(0, start) + joinedWriters + segmentText + endOpening + code;
  // Any other use of these variables would break, because they no longer exist.
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
            "build/join-react-writes.mjs does not know this version of react-dom, so React's stream is not optimized and pages cost more CPU. Update the file for the new react-dom, or set SPILLWAY_JOIN=0 to build without it.",
          );
        }
        return { contents: code, loader: 'js' };
      });
    },
  };
}
