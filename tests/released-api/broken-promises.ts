import { isDeepStrictEqual } from 'node:util';
import type { OpenApi, OpenApiOperation } from '../../src/server/api/openapi.ts';
import { explainNarrowing, type NarrowingOptions, type Schema } from './explain-narrowing.ts';

/** A schema by its only media type. */
type Content = Readonly<Record<string, { readonly schema: unknown }>>;

/** Names of what a caller can do without: caches and hints. */
const HINTS = /^(?:header )?(?:ETag|If-None-Match|RateLimit|RateLimit-Policy)$/;

/**
 * Lists how a document breaks the promises of an earlier one, a sentence for each. It promised to accept everything that
 * callers could send, and to reply only with what it described. Errors, names of operations and descriptions promise
 * nothing, and neither does an operation after its `x-sunset`.
 */
export function listBrokenPromises(released: OpenApi, current: OpenApi, now = Date.now()): string[] {
  const operations = listOperations(current);
  return [...listOperations(released)].flatMap(([key, { title, path, facts }]) => {
    const sunset = (facts as { readonly 'x-sunset'?: string })['x-sunset'];
    if (sunset !== undefined && Date.parse(sunset) <= now) return [];
    const next = operations.get(key);
    const broken = next ? compare({ path, facts }, next) : ['the operation is gone'];
    return [...new Set(broken)].map((says) => `${title}: ${says}.`);
  });

  function compare(before: Operation, after: Operation): string[] {
    return [
      ...compareSecurity(before.facts, after.facts),
      ...compareParameters(before, after),
      ...compareBodies(before.facts, after.facts),
      ...compareReplies(before.facts, after.facts),
    ];
  }

  function compareSecurity({ security: before }: OpenApiOperation, { security: after }: OpenApiOperation): string[] {
    const [ways, others] = [toSchemes(before, released), toSchemes(after, current)];
    if (others.length === 0 || ways.some((way) => others.some((other) => isDeepStrictEqual(way, other)))) return [];
    const name = Object.keys(after[0] ?? {}).join();
    return [
      ways.length === 0
        ? `it needs authentication now (\`${name}\`)`
        : `it authenticates in another way now (\`${name}\`)`,
    ];
  }

  function compareParameters(before: Operation, after: Operation): string[] {
    const [known, others] = [listParameters(before), listParameters(after)];
    const added = [...others].filter(([key, { required }]) => required && !known.has(key));
    return [
      ...[...known].flatMap(([key, { place, required, schema }]) => {
        const other = others.get(key);
        if (!other) return HINTS.test(key) ? [] : [`${place} is not read any more`];
        const isRequired = other.required && !required ? [`${place} is required now`] : [];
        return [...isRequired, ...explain(place, [schema, other.schema], { side: 'sent', isText: true })];
      }),
      ...added.map(([, { place }]) => `${place} is required now`),
      ...(others.has('query cursor') && !known.has('query cursor') && after.facts.responses['200']?.headers?.Link
        ? ['the list is divided into pages now, and callers of the last release read only the first']
        : []),
    ];
  }

  function compareBodies(
    { requestBody: before }: OpenApiOperation,
    { requestBody: after }: OpenApiOperation,
  ): string[] {
    if (!before) return after ? ['it needs a body now'] : [];
    if (!after) return ['the body is not read any more'];
    return compareContent('the body', [before.content, after.content], 'sent');
  }

  function compareReplies({ responses: before }: OpenApiOperation, { responses: after }: OpenApiOperation): string[] {
    // 304 is sent only to callers that ask for it.
    const statuses = Object.keys(after).filter((status) => /^[23]/.test(status) && status !== '304');
    if (statuses.length === 0) return ['it only answers with errors now'];
    return statuses.flatMap((status) => {
      const [known, other] = [before[status], after[status]];
      if (!known) return [`it can answer ${status} now`];
      const names = Object.keys(known.headers ?? {}).filter((name) => !HINTS.test(name) && !other?.headers?.[name]);
      return [
        ...names.map((name) => `the reply ${status} has no header \`${name}\` any more`),
        ...compareContent(`the reply ${status}`, [known.content, other?.content], 'got'),
      ];
    });
  }

  function compareContent(
    place: string,
    [before = {}, after = {}]: [Content?, Content?],
    side: 'sent' | 'got',
  ): string[] {
    const [type, other] = [Object.keys(before)[0], Object.keys(after)[0]];
    if (type === undefined) return [];
    if (other === undefined) return [`${place} has no body any more`];
    if (type !== other) return [`${place} is \`${other}\` now, and was \`${type}\``];
    return explain(place, [before[type]?.schema, after[type]?.schema], { side });
  }

  function explain(place: string, [before, after]: [unknown, unknown], options: NarrowingOptions): string[] {
    const from = { schema: before as Schema, named: released.components.schemas as Record<string, Schema> };
    const to = { schema: after as Schema, named: current.components.schemas as Record<string, Schema> };
    const found = options.side === 'sent' ? explainNarrowing(from, to, options) : explainNarrowing(to, from, options);
    return found.map(({ at, says }) => (at === '' ? `${place} ${says}` : `\`${at}\` in ${place} ${says}`));
  }
}

interface Operation {
  readonly path: string;
  readonly facts: OpenApiOperation;
}

/** Returns the operations by method and path, without the names of parameters: callers do not see these. */
function listOperations({ paths }: OpenApi) {
  const listed = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, facts]) => {
      const title = `${method.toUpperCase()} ${path}`;
      return [title.replace(/\{\w+\}/g, '{}'), { title, path, facts }] as const;
    }),
  );
  return new Map(listed);
}

/** Returns the parameters by name, or by their position in the path. */
function listParameters({ path, facts }: Operation) {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const listed = (facts.parameters ?? []).map(({ name, in: kind, required, schema }) => {
    const id = kind === 'path' ? inPath.indexOf(name) : name;
    const place = kind === 'header' ? `the header \`${name}\`` : `the ${kind} parameter \`${name}\``;
    return [`${kind} ${id}`, { place, required, schema }] as const;
  });
  return new Map(listed);
}

/** Returns the security schemes that an operation requires. Any of them is enough, and none means that it is open. */
function toSchemes(security: OpenApiOperation['security'], { components }: OpenApi) {
  const schemes: Readonly<Record<string, unknown>> = components.securitySchemes ?? {};
  return security.map((way) => Object.keys(way).map((name) => schemes[name]));
}
