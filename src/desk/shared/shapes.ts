import * as z from 'zod';
import type { Sent } from '#engine';
import { KINDS, SIDES, STATES } from './choices.ts';

// The data of incidents, as the desk's API and its pages have it: plain JSON, cut and scrubbed. Browsers import only the
// types.

type Shape<Schema extends z.ZodType> = Sent<z.infer<Schema>>;

const text = (about: string) => z.string().describe(about);
const count = (about: string) => z.int().min(0).describe(about);

export const Time = z.int().meta({ id: 'Time', description: 'Milliseconds since 1970.' });

const Pairs = z
  .array(z.tuple([z.string(), z.string()]))
  .meta({ id: 'Pairs', description: 'Names and values. A name can occur twice.' });

export const Kind = z.enum(KINDS).meta({ id: 'Kind', description: 'The kind of failure.' });
export type IncidentKind = z.infer<typeof Kind>;

export const State = z.enum(STATES).meta({ id: 'State' });
export type IncidentState = z.infer<typeof State>;

export const Side = z.enum(SIDES).meta({ id: 'Side', description: 'Where it failed.' });
export type Side = z.infer<typeof Side>;

export const Status = z
  .strictObject({
    state: State,
    isRegression: z.boolean().exactOptional().describe('Open because the failure returned after it was resolved.'),
    isForNext: z
      .boolean()
      .exactOptional()
      .describe('Resolved in the next release: releases that already run can still have the failure.'),
    ignoredUntil: Time.exactOptional(),
    ignoredUntilMore: count('Ignored until it happens this many more times within an hour.').exactOptional(),
    changedAt: Time.exactOptional(),
    changedBy: text('The name of the operator, or of the rule, that set the state.').exactOptional(),
  })
  .meta({ id: 'Status', description: 'The state of an incident, and what would change it automatically.' });
export type StatusShape = Shape<typeof Status>;

const Location = z
  .strictObject({
    route: text('The pattern of the route: `/orders/:id`.').exactOptional(),
    file: text('Relative to the project’s root.').exactOptional(),
    line: z.int().exactOptional(),
    function: z.string().exactOptional(),
  })
  .meta({ id: 'Place', description: 'The place in the application that fails.' });
export type LocationShape = Shape<typeof Location>;

const Counts = z
  .strictObject({ server: count('On the server.'), browser: count('In browsers.') })
  .meta({ id: 'Counts', description: 'The exact number of times that it happened.' });
export type SideCounts = Shape<typeof Counts>;

const Chart = z
  .strictObject({
    start: Time,
    step: z.int().describe('The length of one bar, in milliseconds.'),
    counts: z.array(z.int()).describe('Oldest first.'),
  })
  .meta({ id: 'Chart', description: 'Counts over time.' });
export type ChartShape = Shape<typeof Chart>;

const Mark = z
  .strictObject({ at: Time, release: z.string() })
  .meta({ id: 'Mark', description: 'A release that was first started within the charts.' });
export type MarkShape = Shape<typeof Mark>;

const head = {
  digest: z.string(),
  environment: text('The environment. Each environment has its own incidents.'),
  kind: Kind,
  title: z.string(),
  place: Location,
  status: Status,
  counts: Counts,
  visitors: count('Affected visitors, each counted once a day. Absent if no visitors are known.').exactOptional(),
  firstAt: Time,
  lastAt: Time,
};

export const IncidentRowSchema = z
  .strictObject({ ...head, firstRelease: z.string(), lastRelease: z.string(), chart: Chart })
  .meta({ id: 'IncidentRow' });
export type IncidentRow = Shape<typeof IncidentRowSchema>;

const Frame = z
  .strictObject({
    file: z.string(),
    line: z.int().describe('From 1; 0 if it is unknown.'),
    column: z.int(),
    function: z.string(),
    isOwn: z.boolean().describe('Whether it belongs to the application or its engine.'),
    isEngine: z.boolean(),
    isAsync: z.boolean(),
    link: text('A URL that opens the place in an editor or a repository.').exactOptional(),
    source: z
      .strictObject({ start: z.int().describe('The number of the first line.'), lines: z.array(z.string()) })
      .exactOptional(),
  })
  .meta({ id: 'Frame' });
export type FrameShape = Shape<typeof Frame>;

const ErrorRecord = z
  .strictObject({
    class: z.string(),
    message: z.string(),
    code: z.string().exactOptional(),
    members: z.array(z.string()).describe('Classes of the errors of an `AggregateError`.'),
    frames: z.array(Frame),
  })
  .meta({ id: 'Error' });
export type ErrorShape = Shape<typeof ErrorRecord>;

const RequestRecord = z
  .strictObject({
    method: z.string(),
    url: z.string(),
    referrer: z.string().exactOptional(),
    agent: z.strictObject({ words: z.string(), raw: z.string() }).exactOptional(),
    headers: Pairs,
  })
  .meta({ id: 'Request', description: 'The request without its body, cookies, credentials and IP address.' });
export type RequestShape = Shape<typeof RequestRecord>;

const Breadcrumb = z
  .strictObject({
    at: Time,
    category: z.string(),
    message: z.string(),
    level: z.enum(['debug', 'info', 'warning', 'error']),
    data: Pairs,
  })
  .meta({ id: 'Breadcrumb', description: 'An event before the failure.' });
export type BreadcrumbShape = Shape<typeof Breadcrumb>;

const Component = z
  .strictObject({
    name: z.string(),
    place: text('File and line; empty for an element.'),
    isProduct: z.boolean().describe('A component of the app, not of the engine.'),
  })
  .meta({ id: 'Component' });
export type ComponentShape = Shape<typeof Component>;

const InFlight = z.strictObject({
  requestId: z.string(),
  method: z.string(),
  route: z.string(),
  ms: z.number().describe('Its duration so far, in milliseconds.'),
});

const Story = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('hydration'),
      said: text('React’s message, if the browser sent it.'),
      meaning: text('An explanation, if React only gave a number.'),
    }),
    z.strictObject({
      kind: z.literal('unclean-death'),
      startedAt: Time.exactOptional(),
      lastHeardAt: Time,
      memory: z.number().exactOptional().describe('Resident memory at its last heartbeat, in bytes.'),
      /** Of its main thread (bytes). */
      heap: z.strictObject({ used: z.number(), limit: z.number() }).exactOptional(),
      blockedFor: z.number().exactOptional().describe('How long its main thread had been blocked, in milliseconds.'),
      inFlight: z.array(InFlight),
    }),
    z.strictObject({
      kind: z.literal('blocked-loop'),
      inFlight: z.array(InFlight).describe('When the block began. One of them caused it.'),
    }),
  ])
  .meta({ id: 'Story', description: 'Details that only this kind of failure has.' });
export type StoryShape = Shape<typeof Story>;
export type StoryOf<Kind extends StoryShape['kind']> = Extract<StoryShape, { kind: Kind }>;

const Test = z
  .strictObject({
    file: text('Its path in the project.'),
    text: z.string(),
    missing: z.array(z.string()).describe('Sentences about parts that were not recorded.'),
  })
  .meta({ id: 'Test' });
export type TestShape = Shape<typeof Test>;

const Full = z
  .strictObject({
    origin: text('What was running: `while a loader ran`.'),
    level: z.enum(['fatal', 'error', 'warning']),
    traceId: z.string().exactOptional(),
    traceLink: text('A URL that opens the trace in a tracing tool.').exactOptional(),
    spanId: z.string().exactOptional(),
    errors: z.array(ErrorRecord).describe('Outermost first.'),
    stackText: text('The errors and their stacks as text.'),
    story: Story.exactOptional(),
    request: RequestRecord.exactOptional(),
    test: Test.exactOptional().describe('Fails in the same way, until the bug is fixed. Absent if no test can.'),
    components: z.array(Component),
    breadcrumbs: z.array(Breadcrumb),
    tags: Pairs,
    extra: Pairs,
    cut: z.array(z.string()).describe('Names of the parts that were cut to fit the limits.'),
  })
  .meta({ id: 'Full' });
export type FullShape = Shape<typeof Full>;

export const OccurrenceSchema = z
  .strictObject({
    occurrence: z.string(),
    at: Time,
    side: Side,
    release: z.string(),
    build: z.string(),
    route: z.string().exactOptional(),
    requestId: z.string().exactOptional(),
    visitor: z.string().exactOptional(),
    full: Full.exactOptional().describe('The full data. Absent if the occurrence was sampled out.'),
  })
  .meta({ id: 'Occurrence', description: 'One occurrence of an incident.' });
export type OccurrenceShape = Shape<typeof OccurrenceSchema>;

const Commit = z
  .strictObject({
    hash: z.string(),
    author: z.string(),
    at: Time,
    subject: z.string(),
    file: text('The file of the changed line.'),
    line: z.int().describe('The changed line.'),
  })
  .meta({ id: 'Commit' });
export type CommitShape = Shape<typeof Commit>;

const Release = z
  .strictObject({
    release: z.string(),
    build: z.string(),
    firstAt: Time,
    lastAt: Time,
    count: z.int(),
    isRegression: z.boolean().describe('Whether the failure returned in this release after it was resolved.'),
  })
  .meta({ id: 'Release' });
export type ReleaseShape = Shape<typeof Release>;

export const Change = z
  .strictObject({
    id: z.string(),
    at: Time,
    by: text('The name of a token, or `The desk` for an automatic change.'),
    words: text('A sentence without its subject: `resolved it in the next release`.'),
    note: z.strictObject({ id: z.int(), text: z.string() }).exactOptional(),
  })
  .meta({ id: 'Change', description: 'A change, or a note.' });
export type ChangeShape = Shape<typeof Change>;

const Missed = z
  .strictObject({
    occurrence: z.string(),
    state: z
      .enum(['summary', 'sampled', 'arriving', 'unknown'])
      .describe(
        '`summary` if only its row is stored, `sampled` if it was probably only counted, `arriving` if it is perhaps not stored yet, `unknown` if it never existed or was deleted.',
      ),
    at: Time.exactOptional(),
    requestId: z.string().exactOptional(),
  })
  .meta({ id: 'Missed', description: 'An occurrence that is not stored in full.' });
export type MissedShape = Shape<typeof Missed>;

export const IncidentSchema = z
  .strictObject({
    ...head,
    message: text('The complete message of the outermost error.'),
    version: text('Grows with each change and each regression.'),
    commit: Commit.exactOptional().describe(
      'The likely cause: the latest commit of the release in which it began that changed a line of the failure.',
    ),
    issueLink: text('A URL that opens a new issue about it in an issue tracker.').exactOptional(),
    day: Chart.describe('The last 24 hours, by the hour.'),
    fortnight: Chart.describe('The last 14 days, in UTC.'),
    marks: z.array(Mark),
    releases: z.array(Release).describe('Ordered by when it was first seen in each release.'),
    shown: OccurrenceSchema.exactOptional().describe(
      'The occurrence of the address, or the nearest one that is stored in full. Without an address, the latest.',
    ),
    missed: Missed.exactOptional().describe('The occurrence of the address, if another one is shown.'),
    newer: text('The next occurrence in time.').exactOptional(),
    older: text('The previous occurrence in time.').exactOptional(),
    recent: z.array(OccurrenceSchema.pick({ occurrence: true, at: true, side: true, release: true })),
    changes: z.array(Change).describe('Notes and changes, newest first.'),
  })
  .meta({ id: 'Incident' });
export type IncidentShape = Shape<typeof IncidentSchema>;
