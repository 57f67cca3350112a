import * as z from 'zod';
import { NOBODY, SORTS, SPANS, WITHIN } from '../../../shared/desk/choices.ts';
import { USUAL_VIEW } from '../../../shared/desk/href.ts';
import { parseAddress } from '../address.ts';
import { ORDERS, toFilter } from '../pages/read-view.ts';
import { isCursor } from '../store/incidents/cursor.ts';
import { MAX_NOTE_LENGTH } from '../store/incidents/note-table.ts';
import { OCCURRENCE_ORDER } from '../store/occurrences/occurrence-table.ts';
import { Kind, Side, State, Time } from './replies.ts';

/** Rows of one answer (counts). */
const USUAL_LIMIT = 50;
const MAX_LIMIT = 100;
/** Longest text of a filter, of a search, and name of somebody (characters). */
const MAX_TEXT = 250;
const MAX_ASSIGNEE = 100;
/** The most that can be waited for within an hour (a count). */
const MAX_GROWTH = 1_000_000;

const NO_CURSOR = 'This is no `next` of this list in this order. Leave it out to begin at the top.';

function firstsOf<Value extends string>(choices: readonly (readonly [value: Value, words: string])[]): Value[] {
  return choices.map(([value]) => value);
}

/** However it is spelt: case and hyphens do not count, I and L are 1, O is 0. */
export const Digest = z
  .string()
  .transform((text, context) => {
    const address = parseAddress(text);
    if (address && address.occurrence === undefined) return address.digest;
    context.addIssue('This is no digest: it has 8 letters and digits, as 7K3QM2XA.');
    return z.NEVER;
  })
  .describe('The first 8 characters of an address: `7K3QM2XA`.');

const Occurrence = z
  .string()
  .transform((text, context) => {
    // It is spelt as the second half of an address is.
    const address = parseAddress(`00000000${text}`);
    if (address?.occurrence !== undefined) return address.occurrence;
    context.addIssue('This is no occurrence: it has 8 letters and digits, as 9F4W0R6B.');
    return z.NEVER;
  })
  .describe('The last 8 characters of an address: `9F4W0R6B`.');

const word = z.string().trim().min(1).max(MAX_TEXT);

const environment = word.optional();

/** Of all that is asked by a digest. */
export const InEnvironment = z.strictObject({
  environment: environment.describe(
    'The environment of the incident: each has its own state and counts. Without it, the environment of this server, or another one where this one does not know the digest.',
  ),
});

export const OfIncident = z.strictObject({ digest: Digest });
export const OfOccurrence = z.strictObject({ digest: Digest, occurrence: Occurrence });

const time = z.coerce.number().int().min(0).describe('Milliseconds since 1970; exact to the hour.');

const limit = z.coerce
  .number()
  .int()
  .min(1)
  .max(MAX_LIMIT)
  .default(USUAL_LIMIT)
  .describe('The most that are answered.');
const after = z.string().optional().describe('`next` of the page before.');

const filter = {
  side: Side.optional(),
  kind: Kind.optional(),
  route: word.optional().describe('The pattern of a route.'),
  release: word.optional().describe('Seen in this release.'),
  environment: environment.describe('The environment whose incidents are listed: by default that of this server.'),
  assignee: word.optional().describe(`A name; \`${NOBODY}\` for those that nobody has.`),
  within: z.enum(firstsOf(WITHIN)).optional().describe('Seen lately.'),
  from: time.optional(),
  to: time.optional(),
  search: word
    .optional()
    .describe('Words that are parts of message, digest, file, function, route, URL or user agent, in any order.'),
};
const state = z.enum([...State.options, 'all']);

export const ListQuery = z
  .strictObject({
    state: state.default('open'),
    ...filter,
    sort: z.enum(firstsOf(SORTS)).default('last').describe('Each from the highest down.'),
    span: z.enum(firstsOf(SPANS)).default('24h').describe('Of the charts.'),
    limit,
    after,
  })
  .refine(({ after, sort }) => after === undefined || isCursor(after, ORDERS[sort]), {
    path: ['after'],
    error: NO_CURSOR,
  });

export const OccurrenceQuery = z
  .strictObject({ ...InEnvironment.shape, limit, after })
  .refine(({ after }) => after === undefined || isCursor(after, OCCURRENCE_ORDER), {
    path: ['after'],
    error: NO_CURSOR,
  });

export const LimitQuery = z.strictObject({ limit });
export const LimitInEnvironment = z.strictObject({ ...InEnvironment.shape, limit });

export const FindQuery = z.strictObject({
  text: word.describe('A digest, an address, or the id of a request or a trace.'),
});

const occurrences = z
  .enum(['none', 'brief', 'whole'])
  .default('brief')
  .describe('None; when and where each happened; or all that is kept of each.');

export const ExportQuery = z.strictObject({ state: state.default('all'), ...filter, occurrences });
export const ExportOneQuery = z.strictObject({ ...InEnvironment.shape, occurrences });

/** What of a query the store filters by. */
export function toStoreFilter(
  { from, to, ...view }: Pick<z.output<typeof ListQuery>, 'state' | keyof typeof filter>,
  { now, environment }: { readonly now: number; readonly environment: string },
): ReturnType<typeof toFilter> {
  return {
    ...toFilter({ ...USUAL_VIEW, ...view }, { now, environment }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
}

const TAGS = /^(?:\*|(?:W\/)?"[^"]*"(?:\s*,\s*(?:W\/)?"[^"]*")*)$/;

export const IfMatch = z.object({
  'if-match': z
    .string()
    .regex(TAGS, 'This is no ETag. Send the one of the incident as it came, in its quotes.')
    .optional()
    .describe('The `ETag` of the incident as you know it: 412 where somebody has changed it since.'),
});

const NewStatus = z
  .discriminatedUnion('state', [
    z.strictObject({ state: z.literal('open') }),
    z.strictObject({
      state: z.literal('resolved'),
      in: z
        .enum(['now', 'next'])
        .default('now')
        .describe(
          '`next`: what runs by now may still bring it; in a release that is first started after this it is a regression.',
        ),
    }),
    z.strictObject({
      state: z.literal('ignored'),
      until: Time.refine((at) => at > Date.now(), 'This time is over.').optional(),
      untilMore: z.int().min(1).max(MAX_GROWTH).optional().describe('Until it happens this often more within an hour.'),
    }),
  ])
  .meta({ description: 'Ignored without an end is ignored forever.' });

export const IncidentPatch = z
  .strictObject({
    status: NewStatus.optional(),
    assignee: z.string().trim().min(1).max(MAX_ASSIGNEE).nullable().optional().describe('A name; null for nobody.'),
  })
  .refine((patch) => Object.keys(patch).length > 0, 'Send a status, or an assignee, or both.')
  .meta({ id: 'IncidentPatch', minProperties: 1 });

export const Merge = z.strictObject({ into: Digest }).meta({ id: 'Merge' });

export const NewNote = z.strictObject({ text: z.string().trim().min(1).max(MAX_NOTE_LENGTH) }).meta({ id: 'NewNote' });

export const OfNote = z.strictObject({ id: z.coerce.number().int().min(1).describe('Of the note.') });

export const OfFeedback = z.strictObject({ digest: Digest, id: z.string().min(1).max(MAX_TEXT) });
