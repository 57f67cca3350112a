import * as z from 'zod';
import { MAX_NOTE_LENGTH, RESOLVE_CHOICES, SORTS, WITHIN } from '../../shared/choices.ts';
import { Kind, Side, State, Time } from '../../shared/shapes.ts';
import { firsts, MAX_FILTER_LENGTH } from '../read-view.ts';
import { parseCursor } from '../store/cursor.ts';
import { OCCURRENCE_ORDER } from '../store/occurrence-table.ts';

/** The default and the greatest number of rows in a reply (counts). */
const USUAL_LIMIT = 50;
const MAX_LIMIT = 100;
/** The greatest value of `untilMore` (a count). */
const MAX_GROWTH = 1_000_000;

const NO_CURSOR = 'This is not a `next` value of this list in this order. Omit it to start at the beginning.';

const word = z.string().trim().min(1).max(MAX_FILTER_LENGTH);

const environment = word.optional();

/** The query of everything that is requested by digest. */
export const InEnvironment = z.strictObject({
  environment: environment.describe(
    'The environment of the incident. Each environment has its own state and counts. By default, the environment of this server, or another one if this one does not have the digest.',
  ),
});

/** In any spelling: in upper or lower case, with hyphens or without. */
const digest = z.string().describe('A digest, `7K3QM2XA`, or the address of an occurrence, `7K3QM2XA-9F4W0R6B`.');

export const OfIncident = z.strictObject({ digest });
export const OfOccurrence = z.strictObject({
  digest,
  occurrence: z.string().describe('The last 8 characters of an address: `9F4W0R6B`.'),
});

const limit = z.int().min(1).max(MAX_LIMIT).default(USUAL_LIMIT).describe('The maximum number of items.');
const after = z.string().optional().describe('`next` of the previous page.');

const filter = {
  side: Side.optional(),
  kind: Kind.optional(),
  route: word.optional().describe('The pattern of a route.'),
  release: word.optional().describe('A release that it was seen in.'),
  environment: environment.describe('The environment to list. By default, the environment of this server.'),
  within: z.enum(firsts(WITHIN)).optional().describe('Seen within this time.'),
  search: word
    .optional()
    .describe(
      'Words or parts of words in the message, digest, file, function, route, URL or user agent, in any order.',
    ),
};
const state = z.enum([...State.options, 'all']);

export const ListQuery = z
  .strictObject({
    state: state.default('open'),
    ...filter,
    sort: z.enum(firsts(SORTS)).default('last').describe('In descending order.'),
    limit,
    after,
  })
  .refine(({ after, sort }) => after === undefined || parseCursor(after, sort), {
    path: ['after'],
    error: NO_CURSOR,
  });

export const OccurrenceQuery = z
  .strictObject({ ...InEnvironment.shape, limit, after })
  .refine(({ after }) => after === undefined || parseCursor(after, OCCURRENCE_ORDER), {
    path: ['after'],
    error: NO_CURSOR,
  });

const TAG = /^(?:\*|(?:W\/)?"[^"]*")$/;

export const IfMatch = z.object({
  'if-match': z
    .string()
    .regex(TAG, 'This is not an ETag. Send the incident’s ETag unchanged, with its quotes.')
    .optional()
    .describe('The last `ETag` that you got for the incident. The reply is 412 if it has changed since.'),
});

const NewStatus = z
  .discriminatedUnion('state', [
    z.strictObject({ state: z.literal('open') }),
    z.strictObject({
      state: z.literal('resolved'),
      in: z
        .enum(firsts(RESOLVE_CHOICES))
        .default('now')
        .describe(
          '`next`: releases that already run can still have the failure. In a release that is first started later, it is a regression.',
        ),
    }),
    z.strictObject({
      state: z.literal('ignored'),
      until: Time.refine((at) => at > Date.now(), 'This time is in the past.').optional(),
      untilMore: z
        .int()
        .min(1)
        .max(MAX_GROWTH)
        .optional()
        .describe('Until it happens this many more times within an hour.'),
    }),
  ])
  .meta({ description: 'An ignored incident without `until` or `untilMore` is ignored forever.' });

export const IncidentPatch = z.strictObject({ status: NewStatus }).meta({ id: 'IncidentPatch' });

export const NewNote = z.strictObject({ text: z.string().trim().min(1).max(MAX_NOTE_LENGTH) }).meta({ id: 'NewNote' });
