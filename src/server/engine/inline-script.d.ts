/** A module of the client as one classic script, minified: made by `build/inline-script.mjs`. */
declare module 'inline:*' {
  const script: string;
  export default script;
}
