/** A module of the client as one minified classic script, or a minified style sheet, made by `build/inline-script.mjs`. */
declare module 'inline:*' {
  const script: string;
  export default script;
}
