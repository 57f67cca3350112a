// Finds the named function and the `throw` of each position in a source file. Digests depend on these names. They are
// taken from the source text and not from running code, because engines and minifiers disagree on function names.

import { posix } from 'node:path';
import { parseSync, visitorKeys } from 'oxc-parser';
import { HELPER_FILE, HELPER_NAME } from '../../src/shared/location-format.mjs';
import { createHandlerNames, toRegistration } from './handler-names.mjs';
import { toKind, toStatement } from './statement.mjs';

/** Names of error classes. */
const errorName = /(?:Error|Exception|Failure)$/;
const errorClasses = /\bclass\s+([\w$]+)[^{};]*?\bextends\s+[\w$.]*(?:Error|Exception|Failure)\b/g;

/** An existing app is outside of `src`. The names of the product's handlers stay as they are. */
const isExistingApp = (path) => !/^(?:src|tests)\//.test(path);

/** Types are not code and cannot fail. */
const skippedKeys = new Set(['typeAnnotation', 'typeParameters', 'typeArguments', 'returnType', 'superTypeArguments']);
const skippedTypes = /^TS(?:Interface|TypeAlias|Declare|Type|Import|Export|Namespace)/;

/**
 * @typedef {object} SourceLocation
 * @property {string} function qualified name of the nearest enclosing function; empty at the top level of a module
 * @property {string} detail the `throw`, the creation of an error, or a call that throws without saying where
 * @property {'' | 'thrown' | 'call'} kind of the detail
 * @property {boolean} isErrorClass whether it is in an error class, which only some engines have in their stacks
 * @property {boolean} isHelper whether it throws on behalf of its caller
 * @property {number} offset start of the detail if there is one, or else of the function
 * @property {number} functionOffset
 * @property {import('./handler-names.mjs').Names} [names] in an anonymous handler of an existing app
 *
 * @typedef {object} SourceIndex
 * @property {number[]} starts ascending offsets at which the location changes
 * @property {SourceLocation[]} locations the location that begins at each start
 * @property {Set<string>} properties names that occur in the source after a dot or in a pattern
 */

/**
 * @param {string} path relative to the root; its extension determines the language
 * @param {string} text
 * @param {{ helpers?: readonly string[] }} [options] more files whose functions throw on behalf of their callers
 * @returns {SourceIndex}
 */
export function indexSource(path, text, { helpers = [] } = {}) {
  const { program, comments } = parseSync(path, text);
  const starts = [];
  const locations = [];
  const properties = new Set();
  const ownErrors = new Set([...text.matchAll(errorClasses)].map(([, name]) => name));
  const imported = new Set();
  const isHelperFile = (file) => HELPER_FILE.test(file) || helpers.includes(file);
  const handlers = isExistingApp(path) ? createHandlerNames() : undefined;
  const isErrorName = (name) => errorName.test(name) || ownErrors.has(name);

  const toSource = (node) => toStatement(text, node, comments);

  /** Sets the location from this offset on. */
  function mark(offset, location) {
    if (starts.at(-1) === offset) {
      locations[locations.length - 1] = location;
    } else if (locations.at(-1) !== location) {
      starts.push(offset);
      locations.push(location);
    }
  }

  /** Visits a node, with its own location for its range. */
  function within(node, location, outer, visitInside) {
    mark(node.start, location);
    visitInside();
    mark(node.end, outer);
  }

  function visitAll(node, location) {
    for (const key of visitorKeys[node.type] ?? []) {
      if (skippedKeys.has(key)) continue;
      const child = node[key];
      if (Array.isArray(child)) for (const item of child) visit(item, location);
      else visit(child, location);
    }
  }

  /**
   * @param {string} [name] name that the surrounding code gives to the function, class or object
   * @param {string} [registration] the call that takes the node as a handler
   */
  function visit(node, location, name = '', registration) {
    if (!node) return;
    switch (node.type) {
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
        return visitFunction(node, location, node.id?.name ?? name, node.id ? undefined : registration);
      case 'ClassDeclaration':
      case 'ClassExpression':
        return visitClass(node, location, node.id?.name ?? name);
      case 'ObjectExpression':
        return visitObject(node, location, name);
      case 'VariableDeclarator':
        if (node.id.type === 'Identifier') return visit(node.init, location, node.id.name);
        if (!node.init) return visit(node.id, location);
        return visitDetail(node, location, 'call', (inner) => visitAll(node, inner));
      case 'AssignmentExpression':
        visit(node.left, location);
        return visit(node.right, location, toAssignedName(node.left));
      case 'ExportDefaultDeclaration':
        return visit(node.declaration, location, 'default');
      case 'JSXAttribute':
        return visit(node.value, location, node.name.name?.name ?? node.name.name);
      case 'JSXExpressionContainer':
      case 'TSAsExpression':
      case 'TSSatisfiesExpression':
      case 'TSNonNullExpression':
      case 'TSTypeAssertion':
      case 'ParenthesizedExpression':
        return visit(node.expression, location, name, registration);
      case 'ArrayExpression':
        for (const item of node.elements) visit(item, location, '', registration);
        return;
      case 'ThrowStatement':
        return visitDetail(node, location, 'thrown', (inner) => visitAll(node, inner));
      case 'CallExpression':
      case 'NewExpression':
        return visitCall(node, location, name, registration);
      case 'MemberExpression':
        if (!node.computed) properties.add(node.property.name);
        return visitAll(node, location);
      case 'Property': // of a pattern; visitObject() handles those of objects
        if (!node.computed) properties.add(toKey(node));
        return visitAll(node, location);
      case 'ImportDeclaration':
        return readImport(node);
      default:
        if (!skippedTypes.test(node.type)) visitAll(node, location);
    }
  }

  function visitFunction(node, location, name, registration) {
    const inner = name ? toNamed(location, name, node) : toCallback(location);
    const own = registration && handlers ? toHandler(inner, location, registration) : inner;
    within(node, own, location, () => visitAll(node, own));
  }

  /** A function without a name has the name of the one around it. */
  function toCallback(location) {
    const name = location.names ? handlers.pick(location.names) : location.function;
    return { ...location, function: name, detail: '', kind: '', offset: location.functionOffset };
  }

  function toHandler(inner, outer, registration) {
    const names = handlers.open(
      inner.names?.plain ?? inner.function,
      join(outer.names?.other ?? outer.function, registration),
    );
    return { ...inner, function: handlers.pick(names), names };
  }

  function toNamed(location, name, node) {
    const { names } = location;
    const own = names && { ...names, plain: join(names.plain, name), other: join(names.other, name) };
    return {
      function: own ? handlers.pick(own) : join(location.function, name),
      detail: '',
      kind: '',
      isErrorClass: location.isErrorClass && name === 'constructor',
      isHelper: location.isHelper || HELPER_NAME.test(name),
      offset: node.start,
      functionOffset: node.start,
      ...(own && { names: own }),
    };
  }

  function visitClass(node, location, name) {
    const isErrorClass = isErrorName(toText(node.superClass)) || (node.superClass !== null && isErrorName(name));
    const inner = { ...toNamed(location, name || 'class', node), isErrorClass };
    within(node, inner, location, () => {
      visit(node.superClass, inner);
      for (const member of node.body.body) visitMember(member, inner);
    });
  }

  function visitMember(member, location) {
    if (!member.key) return visitAll(member, location); // a static block
    if (member.computed) visit(member.key, location);
    return visit(member.value, location, toKey(member));
  }

  function visitObject(node, location, name) {
    for (const property of node.properties) {
      if (property.type !== 'Property') {
        visit(property, location);
        continue;
      }
      if (property.computed) visit(property.key, location);
      const key = toKey(property);
      visit(property.value, location, name ? `${name}.${key}` : key);
    }
  }

  function visitCall(node, location, name, registration) {
    const callee = toText(node.callee);
    const kind = toKind(node, callee, isErrorName, imported);
    if (!kind) return visitParts(node, location, callee, name, registration);
    return visitDetail(node, location, kind, (inner) => visitParts(node, inner, callee, name, registration));
  }

  /** Names a callback after the subject that it is registered for, or after the constant that its wrapper defines. */
  function visitParts(node, location, callee, name, outer) {
    visit(node.callee, location);
    const last = callee.slice(callee.lastIndexOf('.') + 1);
    const subject = toLiteral(node.arguments[0]);
    const wrapped = node.callee.type === 'Identifier' || location.function === '' ? name : '';
    const registered = subject !== undefined ? `${last}(${subject})` : '';
    const loose = location.function === '' && !wrapped ? `${last}()` : '';
    const registration = toRegistration(node, last, toSource) ?? (outer && `${outer}.${last}()`);
    for (const argument of node.arguments) {
      const isFunction = /Function/.test(argument.type) && !argument.id;
      const given = isFunction ? registered || wrapped || loose : wrapped && isCall(argument) ? wrapped : '';
      visit(argument, location, given, registration);
    }
  }

  /** Visits a detail, unless it is within a `throw`: that `throw` is the detail then. */
  function visitDetail(node, location, kind, visitInside) {
    if (location.kind === 'thrown') return visitInside(location);
    const detail = toSource(node);
    const name = kind === 'thrown' && location.names ? handlers.pick(location.names, detail) : location.function;
    const inner = { ...location, function: name, detail, kind, offset: node.start };
    within(node, inner, location, () => visitInside(inner));
  }

  function readImport({ source, specifiers }) {
    if (!source.value.startsWith('.')) return;
    const file = posix.join(posix.dirname(path), source.value);
    if (isHelperFile(file)) for (const { local } of specifiers) imported.add(local.name);
  }

  function toText(node) {
    return node ? text.slice(node.start, node.end).replace(/\s+|\?(?=\.)|<[^()]*>$/g, '') : '';
  }

  function toKey({ key, computed }) {
    if (computed) return `[${toText(key).slice(0, 50)}]`;
    if (key.type === 'PrivateIdentifier') return `#${key.name}`;
    return String(key.name ?? key.value);
  }

  function toAssignedName(left) {
    return /^(?:Identifier|MemberExpression)$/.test(left.type)
      ? toText(left)
          .replace(/^(?:this|module|exports|module\.exports|window|globalThis)\./, '')
          .slice(0, 50)
      : '';
  }

  const top = {
    function: '',
    detail: '',
    kind: '',
    isErrorClass: false,
    isHelper: isHelperFile(path),
    offset: 0,
    functionOffset: 0,
  };
  mark(0, top);
  visitAll(program, top);
  return { starts, locations, properties };
}

function join(outer, name) {
  return outer ? `${outer}.${name}` : name;
}

function isCall(node) {
  return node.type === 'CallExpression' || node.type === 'ObjectExpression';
}

/** Returns `"/orders/:id"` for `router.get('/orders/:id', …)`. */
function toLiteral(node) {
  return node?.type === 'Literal' && typeof node.value === 'string' && node.value.length <= 80
    ? JSON.stringify(node.value)
    : undefined;
}
