declare module '*.module.css' {
  /** By the name in the sheet, the name in the page. */
  const classes: Readonly<Record<string, string>>;
  export default classes;
}
declare module '*.css';
