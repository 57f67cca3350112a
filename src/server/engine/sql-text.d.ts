/** A file of SQL as text, such as a migration of your database. */
declare module '*.sql' {
  const text: string;
  export default text;
}
