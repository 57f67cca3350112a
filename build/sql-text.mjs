/** Imports files of SQL as text for Vite, which runs the tests. The builds do it with esbuild's loader `text`. */
export function sqlTextForVite() {
  return {
    name: 'sql-text',
    transform(source, id) {
      return id.endsWith('.sql') ? `export default ${JSON.stringify(source)};` : undefined;
    },
  };
}
