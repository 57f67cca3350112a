/** A fragment of one of this project's own files, cut out by the build: see `build/excerpts.mjs`. */
declare module 'excerpt:*' {
  const source: import('./ui/excerpt.tsx').Source;
  export default source;
}
