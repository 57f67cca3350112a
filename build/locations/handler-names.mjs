import { METHODS } from 'node:http';

/** Methods of an Express app or router that take handlers. */
const registering = new Set(['all', 'param', 'use', ...METHODS.map((method) => method.toLowerCase())]);

/** Longest source of a path in a name (UTF-16 code units). */
const maxPath = 80;

/**
 * Names the registration of handlers: `get("/a")`, `get(["/a","/b"])`, `route("/a").get()` or `use()`.
 *
 * @param {import('oxc-parser').CallExpression} node
 * @param {string} method the last name of what is called
 * @param {(node: object) => string} toSource the source of a node in one spelling
 * @returns {string | undefined} undefined for another call
 */
export function toRegistration({ callee, arguments: given }, method, toSource) {
  if (callee.type !== 'MemberExpression' || !registering.has(method)) return undefined;
  const toPath = (node) => (node && !/Function|Call|Spread/.test(node.type) ? toSource(node).slice(0, maxPath) : '');
  for (let call = callee.object; call?.type === 'CallExpression'; call = call.callee.object) {
    if (call.callee.property?.name === 'route') return `route(${toPath(call.arguments[0])}).${method}()`;
  }
  return `${method}(${given.length > 1 ? toPath(given[0]) : ''})`;
}

/**
 * Keeps anonymous handlers of an existing app apart, whose bugs would otherwise share a digest: most of them are named
 * after the function around them, and two of `app.use(() => …)` have one name. The first handler keeps that name. A
 * later one has the name of its registration, with a number if that is taken too. Statements that throw only differ if
 * they are equal, because digests contain them.
 *
 * @typedef {{ handler: number, plain: string, other: string }} Names of a function in a handler
 */
export function createHandlerNames() {
  /** The handler that first used a name, or a name with a statement. */
  const owners = new Map();
  let handlers = 0;

  function owns(handler, key) {
    if (!owners.has(key)) owners.set(key, handler);
    return owners.get(key) === handler;
  }

  return {
    /** @returns {Names} */
    open(plain, registered) {
      const handler = ++handlers;
      const isTaken = (name) => name === plain || owners.has(name);
      let other = registered;
      for (let number = 2; isTaken(other); number++) other = `${registered} ${number}`;
      return { handler, plain, other };
    },
    /** Returns the function name of a place. */
    pick({ handler, plain, other }, statement = '') {
      if (owns(handler, statement ? `${plain}#${statement}` : plain)) return plain;
      owns(handler, other);
      return other;
    },
  };
}
