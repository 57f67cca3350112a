/** A fragment of a file of this project, cut out by the build (see `build/excerpts.mjs`). */
declare module 'excerpt:*' {
  const source: import('./ui/excerpt.tsx').Source;
  export default source;
}
