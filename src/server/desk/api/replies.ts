import * as z from 'zod';
import type {
  BreadcrumbShape,
  ChangeShape,
  ChartShape,
  CommitShape,
  ComponentShape,
  IncidentRow,
  MarkShape,
  PlaceShape,
  ReleaseShape,
  RequestShape,
  SideCounts,
  SimilarShape,
  StatusShape,
  StoryShape,
} from '../../../shared/desk/shapes.ts';
import { KIND_WORDS, STATE_WORDS } from '../../../shared/desk/words.ts';

// The API's replies. They have the shapes of the desk's pages: a schema does not compile if its shape has changed.

function namesOf<Name extends string>(words: Readonly<Record<Name, string>>): Name[] {
  return Object.keys(words) as Name[]; // `Record` has these keys and no others
}

export const Time = z.int().meta({ id: 'Time', description: 'Milliseconds since 1970.' });
export const Kind = z.enum(namesOf(KIND_WORDS)).meta({ id: 'Kind', description: 'The kind of failure.' });
export const State = z.enum(namesOf(STATE_WORDS)).meta({ id: 'State' });
export const Side = z.enum(['server', 'browser']).meta({ id: 'Side', description: 'Where it failed.' });

const text = (about: string) => z.string().describe(about);
const count = (about: string) => z.int().min(0).describe(about);
const Pairs = z
  .array(z.tuple([z.string(), z.string()]))
  .meta({ id: 'Pairs', description: 'Names and values. A name can occur twice.' });

const Status = z
  .strictObject({
    state: State,
    isRegression: z.boolean().optional().describe('Open because the failure returned after it was resolved.'),
    isForNext: z
      .boolean()
      .optional()
      .describe('Resolved in the next release: releases that already run can still have the failure.'),
    ignoredUntil: Time.optional(),
    ignoredUntilMore: count('Ignored until it happens this many more times within an hour.').optional(),
    changedAt: Time.optional(),
    changedBy: text('The name of the operator, or of the rule, that set the state.').optional(),
  })
  .meta({
    id: 'Status',
    description: 'The state of an incident, and what would change it automatically.',
  }) satisfies z.core.$ZodType<StatusShape>;

const Place = z
  .strictObject({
    route: text('The pattern of the route: `/orders/:id`.').optional(),
    file: text('Relative to the project’s root.').optional(),
    line: z.int().optional(),
    function: z.string().optional(),
  })
  .meta({ id: 'Place', description: 'The place in the application that fails.' }) satisfies z.core.$ZodType<PlaceShape>;

const Counts = z.strictObject({ server: count('On the server.'), browser: count('In browsers.') }).meta({
  id: 'Counts',
  description: 'The exact number of times that it happened.',
}) satisfies z.core.$ZodType<SideCounts>;

const Chart = z
  .strictObject({
    start: Time,
    step: z.int().describe('The length of one bar, in milliseconds.'),
    counts: z.array(z.int()).describe('Oldest first.'),
  })
  .meta({ id: 'Chart', description: 'Counts over time.' }) satisfies z.core.$ZodType<ChartShape>;

const Mark = z.strictObject({ at: Time, release: z.string() }).meta({
  id: 'Mark',
  description: 'A release that was first started within the charts.',
}) satisfies z.core.$ZodType<MarkShape>;

const environment = text('The environment. Each environment has its own incidents.');

export const Row = z
  .strictObject({
    digest: z.string(),
    environment,
    kind: Kind,
    title: z.string(),
    place: Place,
    status: Status,
    counts: Counts,
    visitors: count('Affected visitors, each counted once a day. Absent if no visitors are known.').optional(),
    firstAt: Time,
    lastAt: Time,
    firstRelease: z.string(),
    lastRelease: z.string(),
    chart: Chart,
  })
  .meta({ id: 'IncidentRow' }) satisfies z.core.$ZodType<IncidentRow>;

export const IncidentList = z
  .strictObject({
    environment: text('The environment of these incidents.'),
    environments: z.array(z.string()).describe('All environments that use this desk.'),
    incidents: z.array(Row),
    totals: z
      .strictObject({ open: z.int(), resolved: z.int(), ignored: z.int() })
      .describe('The number of incidents in each state that match the other filters.'),
    isArriving: z
      .boolean()
      .describe('Whether failures are recorded but not in the store yet, so this reply does not include them.'),
    next: text('The `after` of the next page. Absent on the last page.').optional(),
  })
  .meta({ id: 'IncidentList' });

const Frame = z
  .strictObject({
    file: z.string(),
    line: z.int().describe('From 1; 0 if it is unknown.'),
    column: z.int(),
    function: z.string(),
    isOwn: z.boolean().describe('Whether it belongs to the application or its engine.'),
    isEngine: z.boolean(),
    isAsync: z.boolean(),
    link: text('A URL that opens the place in an editor or a repository.').optional(),
    source: z
      .strictObject({ start: z.int().describe('The number of the first line.'), lines: z.array(z.string()) })
      .optional(),
  })
  .meta({ id: 'Frame' });

const ErrorRecord = z
  .strictObject({
    class: z.string(),
    message: z.string(),
    code: z.string().optional(),
    members: z.array(z.string()).describe('Classes of the errors of an `AggregateError`.'),
    frames: z.array(Frame),
  })
  .meta({ id: 'Error' });

const RequestRecord = z
  .strictObject({
    method: z.string(),
    url: z.string(),
    referrer: z.string().optional(),
    agent: z.strictObject({ words: z.string(), raw: z.string() }).optional(),
    headers: Pairs,
  })
  .meta({
    id: 'Request',
    description: 'The request without its body, cookies, credentials and IP address.',
  }) satisfies z.core.$ZodType<RequestShape>;

const Breadcrumb = z
  .strictObject({
    at: Time,
    category: z.string(),
    message: z.string(),
    level: z.enum(['debug', 'info', 'warning', 'error']),
    data: Pairs,
  })
  .meta({ id: 'Breadcrumb', description: 'An event before the failure.' }) satisfies z.core.$ZodType<BreadcrumbShape>;

const Component = z
  .strictObject({
    name: z.string(),
    place: text('File and line; empty for an element.'),
    isOwn: z.boolean(),
  })
  .meta({ id: 'Component' }) satisfies z.core.$ZodType<ComponentShape>;

const Story = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('hydration'), said: z.string(), meaning: z.string() }),
    z.strictObject({
      kind: z.literal('unclean-death'),
      startedAt: Time.optional(),
      lastHeardAt: Time,
      memory: z.number().optional().describe('Resident memory at its last heartbeat, in bytes.'),
      blockedFor: z.number().optional().describe('How long its main thread had been blocked, in milliseconds.'),
      inFlight: z.array(
        z.strictObject({ requestId: z.string(), method: z.string(), route: z.string(), ms: z.number() }),
      ),
    }),
    z.strictObject({ kind: z.literal('blocked-loop'), ms: z.number(), since: Time.optional() }),
    z.strictObject({ kind: z.literal('report'), facts: Pairs }),
  ])
  .meta({
    id: 'Story',
    description: 'Details that only this kind of failure has.',
  }) satisfies z.core.$ZodType<StoryShape>;

export const Test = z
  .strictObject({
    file: text('Its path in the project.'),
    text: z.string(),
    missing: z.array(z.string()).describe('Sentences about parts that were not recorded.'),
  })
  .meta({ id: 'Test' });

const Full = z
  .strictObject({
    origin: text('Where the failure was caught, as text.'),
    level: z.enum(['error', 'warning']),
    traceId: z.string().optional(),
    traceLink: text('A URL that opens the trace in a tracing tool.').optional(),
    spanId: z.string().optional(),
    errors: z.array(ErrorRecord).describe('Outermost first.'),
    stackText: text('The errors and their stacks as text.'),
    story: Story.optional(),
    request: RequestRecord.optional(),
    test: Test.optional().describe('Fails in the same way, until the bug is fixed.'),
    components: z.array(Component),
    breadcrumbs: z.array(Breadcrumb),
    tags: Pairs,
    extra: Pairs,
    cut: z.array(z.string()).describe('Names of the parts that were cut to fit the limits.'),
  })
  .meta({ id: 'Full' });

const occurrence = {
  occurrence: z.string(),
  at: Time,
  side: Side,
  release: z.string(),
  build: z.string(),
  route: z.string().optional(),
  requestId: z.string().optional(),
  visitor: text('A salted hash that changes daily.').optional(),
};

export const Occurrence = z
  .strictObject({
    ...occurrence,
    full: Full.optional().describe('The full data. Absent if the occurrence was sampled out.'),
  })
  .meta({ id: 'Occurrence', description: 'One occurrence of an incident.' });

export const FoundOccurrence = z
  .strictObject({
    digest: text('The digest of its incident.'),
    environment,
    ...Occurrence.shape,
    newer: text('The `occurrence` of the next newer one.').optional(),
    older: text('The `occurrence` of the next older one.').optional(),
  })
  .meta({ id: 'FoundOccurrence' });

export const OccurrenceList = z
  .strictObject({
    occurrences: z
      .array(z.strictObject({ ...occurrence, isFull: z.boolean().describe('Whether the full data is kept.') }))
      .describe('Newest first.'),
    next: text('The `after` of the next page. Absent on the last page.').optional(),
  })
  .meta({ id: 'OccurrenceList' });

const Release = z
  .strictObject({
    release: z.string(),
    build: z.string(),
    firstAt: Time,
    lastAt: Time,
    count: z.int(),
    isRegression: z.boolean().describe('Whether the failure returned in this release after it was resolved.'),
  })
  .meta({ id: 'Release' }) satisfies z.core.$ZodType<ReleaseShape>;

const Similar = z
  .strictObject({
    digest: z.string(),
    kind: Kind,
    title: z.string(),
    state: State,
    lastAt: Time,
    count: z.int(),
    because: z.enum(['file', 'message']).describe('Whether the file or the message is the same.'),
  })
  .meta({ id: 'Similar' }) satisfies z.core.$ZodType<SimilarShape>;

const Change = z
  .strictObject({
    id: z.string(),
    at: Time,
    by: text('The name of a token, or `The desk` for an automatic change.'),
    words: text('A sentence without its subject: `resolved it in the next release`.'),
    note: z.strictObject({ id: z.int(), text: z.string() }).optional(),
  })
  .meta({ id: 'Change', description: 'A change, or a note.' }) satisfies z.core.$ZodType<ChangeShape>;

export const Note = z.strictObject({ id: z.int(), at: Time, by: z.string(), text: z.string() }).meta({ id: 'Note' });

export const NoteList = z.strictObject({ notes: z.array(Note).describe('Newest first.') }).meta({ id: 'NoteList' });

const head = {
  digest: z.string(),
  environment,
  kind: Kind,
  title: z.string(),
  message: text('The complete message of the outermost error.'),
  place: Place,
  status: Status,
  version: text('Grows with each change and each regression.'),
  counts: Counts,
  visitors: Row.shape.visitors,
  firstAt: Time,
  lastAt: Time,
};

const Commit = z
  .strictObject({
    hash: z.string(),
    author: z.string(),
    at: Time,
    subject: z.string(),
    file: text('The file of the changed line.'),
    line: z.int().describe('The changed line.'),
  })
  .meta({ id: 'Commit' }) satisfies z.core.$ZodType<CommitShape>;

export const Incident = z
  .strictObject({
    ...head,
    commit: Commit.optional().describe(
      'The likely cause: the latest commit of the release in which it began that changed a line of the failure.',
    ),
    issueLink: text('A URL that opens a new issue about it in an issue tracker.').optional(),
    day: Chart.describe('The last 24 hours, by the hour.'),
    fortnight: Chart.describe('The last 14 days, in UTC.'),
    marks: z.array(Mark),
    releases: z.array(Release).describe('Ordered by when it was first seen in each release.'),
    latest: Occurrence.optional().describe(
      'The latest occurrence that is kept in full, or else the latest that was sampled out.',
    ),
    recent: z.array(Occurrence.pick({ occurrence: true, at: true, side: true, release: true })),
    similar: z.array(Similar),
    changes: z.array(Change).describe('Notes and changes, newest first.'),
    elsewhere: z.array(z.string()).describe('Other environments that have this digest.'),
  })
  .meta({ id: 'Incident' });

export const ChangedIncident = z
  .strictObject({
    incident: Incident,
    replaced: z
      .strictObject({ status: Status, version: z.string() })
      .describe('The state before the change. Without `If-Match`, this is what the change overwrote.'),
  })
  .meta({ id: 'ChangedIncident' });

export const Found = z
  .strictObject({ digest: z.string(), environment, occurrence: z.string().optional() })
  .meta({ id: 'Found' });
