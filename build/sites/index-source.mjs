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
 * @property {number[]} starts ascending offsets at which the site changes
 * @property {SourceLocation[]} sites the site that begins at each start
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
  const sites = [];
  const properties = new Set();
  const ownErrors = new Set([...text.matchAll(errorClasses)].map(([, name]) => name));
  const imported = new Set();
  const isHelperFile = (file) => HELPER_FILE.test(file) || helpers.includes(file);
  const handlers = isExistingApp(path) ? createHandlerNames() : undefined;
  const isErrorName = (name) => errorName.test(name) || ownErrors.has(name);

  const toSource = (node) => toStatement(text, node, comments);

  /** Sets the site from this offset on. */
  function mark(offset, site) {
    if (starts.at(-1) === offset) {
      sites[sites.length - 1] = site;
    } else if (sites.at(-1) !== site) {
      starts.push(offset);
      sites.push(site);
    }
  }

  /** Visits a node, with its own site for its range. */
  function within(node, site, outer, visitInside) {
    mark(node.start, site);
    visitInside();
    mark(node.end, outer);
  }

  function visitAll(node, site) {
    for (const key of visitorKeys[node.type] ?? []) {
      if (skippedKeys.has(key)) continue;
      const child = node[key];
      if (Array.isArray(child)) for (const item of child) visit(item, site);
      else visit(child, site);
    }
  }

  /**
   * @param {string} [name] name that the surrounding code gives to the function, class or object
   * @param {string} [registration] the call that takes the node as a handler
   */
  function visit(node, site, name = '', registration) {
    if (!node) return;
    switch (node.type) {
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
        return visitFunction(node, site, node.id?.name ?? name, node.id ? undefined : registration);
      case 'ClassDeclaration':
      case 'ClassExpression':
        return visitClass(node, site, node.id?.name ?? name);
      case 'ObjectExpression':
        return visitObject(node, site, name);
      case 'VariableDeclarator':
        if (node.id.type === 'Identifier') return visit(node.init, site, node.id.name);
        if (!node.init) return visit(node.id, site);
        return visitDetail(node, site, 'call', (inner) => visitAll(node, inner));
      case 'AssignmentExpression':
        visit(node.left, site);
        return visit(node.right, site, toAssignedName(node.left));
      case 'ExportDefaultDeclaration':
        return visit(node.declaration, site, 'default');
      case 'JSXAttribute':
        return visit(node.value, site, node.name.name?.name ?? node.name.name);
      case 'JSXExpressionContainer':
      case 'TSAsExpression':
      case 'TSSatisfiesExpression':
      case 'TSNonNullExpression':
      case 'TSTypeAssertion':
      case 'ParenthesizedExpression':
        return visit(node.expression, site, name, registration);
      case 'ArrayExpression':
        for (const item of node.elements) visit(item, site, '', registration);
        return;
      case 'ThrowStatement':
        return visitDetail(node, site, 'thrown', (inner) => visitAll(node, inner));
      case 'CallExpression':
      case 'NewExpression':
        return visitCall(node, site, name, registration);
      case 'MemberExpression':
        if (!node.computed) properties.add(node.property.name);
        return visitAll(node, site);
      case 'Property': // of a pattern; visitObject() handles those of objects
        if (!node.computed) properties.add(toKey(node));
        return visitAll(node, site);
      case 'ImportDeclaration':
        return readImport(node);
      default:
        if (!skippedTypes.test(node.type)) visitAll(node, site);
    }
  }

  function visitFunction(node, site, name, registration) {
    const inner = name ? toNamed(site, name, node) : toCallback(site);
    const own = registration && handlers ? toHandler(inner, site, registration) : inner;
    within(node, own, site, () => visitAll(node, own));
  }

  /** A function without a name has the name of the one around it. */
  function toCallback(site) {
    const name = site.names ? handlers.pick(site.names) : site.function;
    return { ...site, function: name, detail: '', kind: '', offset: site.functionOffset };
  }

  function toHandler(inner, outer, registration) {
    const names = handlers.open(
      inner.names?.plain ?? inner.function,
      join(outer.names?.other ?? outer.function, registration),
    );
    return { ...inner, function: handlers.pick(names), names };
  }

  function toNamed(site, name, node) {
    const { names } = site;
    const own = names && { ...names, plain: join(names.plain, name), other: join(names.other, name) };
    return {
      function: own ? handlers.pick(own) : join(site.function, name),
      detail: '',
      kind: '',
      isErrorClass: site.isErrorClass && name === 'constructor',
      isHelper: site.isHelper || HELPER_NAME.test(name),
      offset: node.start,
      functionOffset: node.start,
      ...(own && { names: own }),
    };
  }

  function visitClass(node, site, name) {
    const isErrorClass = isErrorName(toText(node.superClass)) || (node.superClass !== null && isErrorName(name));
    const inner = { ...toNamed(site, name || 'class', node), isErrorClass };
    within(node, inner, site, () => {
      visit(node.superClass, inner);
      for (const member of node.body.body) visitMember(member, inner);
    });
  }

  function visitMember(member, site) {
    if (!member.key) return visitAll(member, site); // a static block
    if (member.computed) visit(member.key, site);
    return visit(member.value, site, toKey(member));
  }

  function visitObject(node, site, name) {
    for (const property of node.properties) {
      if (property.type !== 'Property') {
        visit(property, site);
        continue;
      }
      if (property.computed) visit(property.key, site);
      const key = toKey(property);
      visit(property.value, site, name ? `${name}.${key}` : key);
    }
  }

  function visitCall(node, site, name, registration) {
    const callee = toText(node.callee);
    const kind = toKind(node, callee, isErrorName, imported);
    if (!kind) return visitParts(node, site, callee, name, registration);
    return visitDetail(node, site, kind, (inner) => visitParts(node, inner, callee, name, registration));
  }

  /** Names a callback after the subject that it is registered for, or after the constant that its wrapper defines. */
  function visitParts(node, site, callee, name, outer) {
    visit(node.callee, site);
    const last = callee.slice(callee.lastIndexOf('.') + 1);
    const subject = toLiteral(node.arguments[0]);
    const wrapped = node.callee.type === 'Identifier' || site.function === '' ? name : '';
    const registered = subject !== undefined ? `${last}(${subject})` : '';
    const loose = site.function === '' && !wrapped ? `${last}()` : '';
    const registration = toRegistration(node, last, toSource) ?? (outer && `${outer}.${last}()`);
    for (const argument of node.arguments) {
      const isFunction = /Function/.test(argument.type) && !argument.id;
      const given = isFunction ? registered || wrapped || loose : wrapped && isCall(argument) ? wrapped : '';
      visit(argument, site, given, registration);
    }
  }

  /** Visits a detail, unless it is within a `throw`: that `throw` is the detail then. */
  function visitDetail(node, site, kind, visitInside) {
    if (site.kind === 'thrown') return visitInside(site);
    const detail = toSource(node);
    const name = kind === 'thrown' && site.names ? handlers.pick(site.names, detail) : site.function;
    const inner = { ...site, function: name, detail, kind, offset: node.start };
    within(node, inner, site, () => visitInside(inner));
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
  return { starts, sites, properties };
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
