import * as z from 'zod';
import type {
  ArrivingShape,
  BreadcrumbShape,
  ChangeShape,
  ChartShape,
  ComponentShape,
  FeedbackShape,
  GrowthShape,
  IncidentRow,
  MarkShape,
  NoticeShape,
  PlaceShape,
  ReleaseShape,
  RequestShape,
  SideCounts,
  SimilarShape,
  StatusShape,
  StoryShape,
} from '../../../shared/desk/shapes.ts';
import { KIND_WORDS, STATE_WORDS } from '../../../shared/desk/words.ts';

// What the API answers. It is what the desk's pages show: where a shape of theirs is another one by
// now, its schema here does not compile.

function namesOf<Name extends string>(words: Readonly<Record<Name, string>>): Name[] {
  return Object.keys(words) as Name[]; // `Record` has these keys and no others
}

export const Time = z.int().meta({ id: 'Time', description: 'Milliseconds since 1970.' });
export const Kind = z.enum(namesOf(KIND_WORDS)).meta({ id: 'Kind', description: 'What kind of failure it is.' });
export const State = z.enum(namesOf(STATE_WORDS)).meta({ id: 'State' });
export const Side = z.enum(['server', 'browser']).meta({ id: 'Side', description: 'Where it failed.' });

const text = (about: string) => z.string().describe(about);
const count = (about: string) => z.int().min(0).describe(about);
const Pairs = z
  .array(z.tuple([z.string(), z.string()]))
  .meta({ id: 'Pairs', description: 'Names and values: a name may stand twice.' });

const Status = z
  .strictObject({
    state: State,
    isRegression: z.boolean().optional().describe('Open because it came back after it was resolved.'),
    isForNext: z.boolean().optional().describe('Resolved in the next release: what runs by now may still bring it.'),
    ignoredUntil: Time.optional(),
    ignoredUntilMore: count('Ignored until it happens this often more within an hour.').optional(),
    changedAt: Time.optional(),
    changedBy: text('The name of the operator, or of the rule, that made it so.').optional(),
  })
  .meta({
    id: 'Status',
    description: 'How an incident stands, and what would change it by itself.',
  }) satisfies z.core.$ZodType<StatusShape>;

const Place = z
  .strictObject({
    route: text('The pattern of the route: `/orders/:id`.').optional(),
    file: text('Of the project’s root.').optional(),
    line: z.int().optional(),
    function: z.string().optional(),
  })
  .meta({ id: 'Place', description: 'Where in the application it fails.' }) satisfies z.core.$ZodType<PlaceShape>;

const Counts = z
  .strictObject({ server: count('On the server.'), browser: count('In browsers.') })
  .meta({ id: 'Counts', description: 'How often it happened, exactly.' }) satisfies z.core.$ZodType<SideCounts>;

const Chart = z
  .strictObject({
    start: Time,
    step: z.int().describe('What one bar stands for, in milliseconds.'),
    counts: z.array(z.int()).describe('Oldest first.'),
  })
  .meta({ id: 'Chart', description: 'How often, over time.' }) satisfies z.core.$ZodType<ChartShape>;

const Mark = z.strictObject({ at: Time, release: z.string() }).meta({
  id: 'Mark',
  description: 'A release that was first started within the charts.',
}) satisfies z.core.$ZodType<MarkShape>;

const environment = text('Its environment. Each environment has its own incidents.');

export const Row = z
  .strictObject({
    digest: z.string(),
    environment,
    kind: Kind,
    title: z.string(),
    place: Place,
    status: Status,
    counts: Counts,
    visitors: count('Visitors touched, each counted once a day; absent where none was told apart.').optional(),
    firstAt: Time,
    lastAt: Time,
    firstRelease: z.string(),
    lastRelease: z.string(),
    assignee: z.string().optional(),
    chart: Chart,
  })
  .meta({ id: 'IncidentRow' }) satisfies z.core.$ZodType<IncidentRow>;

const Arriving = z
  .strictObject({
    count: count('Recorded by the process that answers.'),
    hasMore: z.boolean().describe('Processes that ended left more, which are not counted.'),
  })
  .meta({
    id: 'Arriving',
    description: 'Failures that are recorded and not in the store yet, so that nothing here knows of them.',
  }) satisfies z.core.$ZodType<ArrivingShape>;

export const IncidentList = z
  .strictObject({
    environment: text('The one whose incidents these are.'),
    environments: z.array(z.string()).describe('All that use this desk.'),
    incidents: z.array(Row),
    totals: z
      .strictObject({ open: z.int(), resolved: z.int(), ignored: z.int() })
      .describe('How many there are in each state, of those that the filter lets through otherwise.'),
    arriving: Arriving,
    next: text('`after` of the next page; absent on the last one.').optional(),
  })
  .meta({ id: 'IncidentList' });

const Frame = z
  .strictObject({
    file: z.string(),
    line: z.int().describe('From 1; 0 where it is not known.'),
    column: z.int(),
    function: z.string(),
    isOwn: z.boolean().describe('Of the application, or of the engine that it is built on.'),
    isEngine: z.boolean(),
    isAsync: z.boolean(),
    link: text('Opens the place in an editor or a repository.').optional(),
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
    description: 'Without body, cookies, credentials and address.',
  }) satisfies z.core.$ZodType<RequestShape>;

const Breadcrumb = z
  .strictObject({
    at: Time,
    category: z.string(),
    message: z.string(),
    level: z.enum(['debug', 'info', 'warning', 'error']),
    data: Pairs,
  })
  .meta({ id: 'Breadcrumb', description: 'What led to it.' }) satisfies z.core.$ZodType<BreadcrumbShape>;

const Component = z
  .strictObject({
    name: z.string(),
    place: text('File and line; empty for an element.'),
    isOwn: z.boolean(),
  })
  .meta({ id: 'Component' }) satisfies z.core.$ZodType<ComponentShape>;

const bytes = (about: string) => z.number().describe(about);
const Memory = z.strictObject({ memory: bytes('Resident.'), heap: bytes('What of V8’s heap was used.') });

const Growth = z
  .strictObject({
    at: Time.describe('When the first step began. Milliseconds since 1970.'),
    step: z.number().describe('How long each step is, in milliseconds.'),
    memory: z.array(z.number()).describe('The most of each step, oldest first: resident memory, in bytes.'),
    heap: z.array(z.number()).describe('The same of V8’s heap.'),
    heapLimit: bytes('What V8’s heap may have.'),
    where: z
      .enum(['heap', 'outside', 'nowhere'])
      .describe('What had grown at the end: the heap, or what is outside of it.'),
    from: Memory.describe('What it had settled at.'),
    to: Memory.describe('What it was at the end.'),
    ms: z.number().describe('How long lay between them.'),
  })
  .meta({
    id: 'Growth',
    description: 'How the memory of a process was, in bytes.',
  }) satisfies z.core.$ZodType<GrowthShape>;

const Story = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('hydration'), said: z.string(), meaning: z.string() }),
    z.strictObject({
      kind: z.literal('unclean-death'),
      startedAt: Time.optional(),
      lastHeardAt: Time,
      memory: z.number().optional().describe('Resident memory when it was last heard of, in bytes.'),
      blockedFor: z.number().optional().describe('Its main thread had stood still for this long, in milliseconds.'),
      growth: Growth.optional(),
      inFlight: z.array(
        z.strictObject({ requestId: z.string(), method: z.string(), route: z.string(), ms: z.number() }),
      ),
    }),
    z.strictObject({ kind: z.literal('blocked-loop'), ms: z.number(), since: Time.optional() }),
    z.strictObject({ kind: z.literal('report'), facts: Pairs }),
  ])
  .meta({ id: 'Story', description: 'What is told of a kind alone.' }) satisfies z.core.$ZodType<StoryShape>;

const Whole = z
  .strictObject({
    origin: text('The way on which it failed, in words.'),
    traceId: z.string().optional(),
    spanId: z.string().optional(),
    errors: z.array(ErrorRecord).describe('Outermost first.'),
    stackText: text('The same as text.'),
    story: Story.optional(),
    request: RequestRecord.optional(),
    components: z.array(Component),
    breadcrumbs: z.array(Breadcrumb),
    tags: Pairs,
    extra: Pairs,
    cut: z.array(z.string()).describe('Names of what was cut to fit the limits.'),
  })
  .meta({ id: 'Whole' });

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
  .strictObject({ ...occurrence, whole: Whole.optional().describe('Absent where no more than the above was kept.') })
  .meta({ id: 'Occurrence', description: 'One time that it happened.' });

export const FoundOccurrence = z
  .strictObject({
    digest: text('Of its incident.'),
    environment,
    ...Occurrence.shape,
    newer: text('The next one in time, by its `occurrence`.').optional(),
    older: text('The one before.').optional(),
  })
  .meta({ id: 'FoundOccurrence' });

export const OccurrenceList = z
  .strictObject({
    occurrences: z
      .array(z.strictObject({ ...occurrence, isWhole: z.boolean().describe('All of it is kept.') }))
      .describe('The latest first.'),
    next: text('`after` of the next page; absent on the last one.').optional(),
  })
  .meta({ id: 'OccurrenceList' });

const Release = z
  .strictObject({
    release: z.string(),
    build: z.string(),
    firstAt: Time,
    lastAt: Time,
    count: z.int(),
    isRegression: z.boolean().describe('It came back here after it was resolved.'),
  })
  .meta({ id: 'Release' }) satisfies z.core.$ZodType<ReleaseShape>;

export const Feedback = z
  .strictObject({
    id: z.string(),
    at: Time,
    text: z.string(),
    name: z.string().optional(),
    email: z.string().optional(),
    url: z.string().optional(),
  })
  .meta({ id: 'Feedback', description: 'What a visitor said of it.' }) satisfies z.core.$ZodType<FeedbackShape>;

export const FeedbackList = z
  .strictObject({ feedback: z.array(Feedback).describe('The latest first.') })
  .meta({ id: 'FeedbackList' });

const Similar = z
  .strictObject({
    digest: z.string(),
    kind: Kind,
    title: z.string(),
    state: State,
    lastAt: Time,
    count: z.int(),
    because: z.enum(['file', 'message']).describe('The file is the same, or the words are.'),
  })
  .meta({ id: 'Similar' }) satisfies z.core.$ZodType<SimilarShape>;

const Change = z
  .strictObject({
    id: z.string(),
    at: Time,
    by: text('The name of a token, or `The desk` for what happened by itself.'),
    words: text('A sentence without its subject: `resolved it in the next release`.'),
    note: z.strictObject({ id: z.int(), text: z.string() }).optional(),
  })
  .meta({ id: 'Change', description: 'A change, or a note.' }) satisfies z.core.$ZodType<ChangeShape>;

export const Note = z.strictObject({ id: z.int(), at: Time, by: z.string(), text: z.string() }).meta({ id: 'Note' });

export const NoteList = z.strictObject({ notes: z.array(Note).describe('The latest first.') }).meta({ id: 'NoteList' });

const head = {
  digest: z.string(),
  environment,
  kind: Kind,
  title: z.string(),
  message: text('Of the outermost error, whole.'),
  place: Place,
  status: Status,
  version: text('Grows with each change, and with each return.'),
  assignee: z.string().optional(),
  merged: z.array(z.string()).describe('Digests that were merged into it.'),
  counts: Counts,
  visitors: Row.shape.visitors,
  firstAt: Time,
  lastAt: Time,
};

export const Incident = z
  .strictObject({
    ...head,
    day: Chart.describe('The last 24 hours, by the hour.'),
    fortnight: Chart.describe('The last 14 days in UTC.'),
    marks: z.array(Mark),
    releases: z.array(Release).describe('In the order in which it was first seen in each.'),
    latest: Occurrence.optional().describe('The latest that is kept whole; a thin one where none is.'),
    recent: z.array(Occurrence.pick({ occurrence: true, at: true, side: true, release: true })),
    feedback: z.array(Feedback),
    similar: z.array(Similar),
    changes: z.array(Change).describe('Notes and changes, the latest first.'),
    elsewhere: z.array(z.string()).describe('Other environments in which the digest is known.'),
  })
  .meta({ id: 'Incident' });

export const ChangedIncident = z
  .strictObject({
    incident: Incident,
    replaced: z
      .strictObject({ status: Status, assignee: z.string().optional(), version: z.string() })
      .describe('How it stood just before: without `If-Match`, what this change won over.'),
  })
  .meta({ id: 'ChangedIncident' });

export const Found = z
  .strictObject({ digest: z.string(), environment, occurrence: z.string().optional() })
  .meta({ id: 'Found' });

export const BuildList = z
  .strictObject({
    builds: z
      .array(z.strictObject({ build: z.string(), release: z.string(), firstAt: Time }))
      .describe('In the order in which they were first started.'),
  })
  .meta({ id: 'BuildList' });

const Notification = z
  .strictObject({
    id: z.int(),
    label: text('`New`, `Regression`, `Storm`, `Summary` or `Test`.'),
    digest: z.string().optional(),
    environment: text('Of the incident, as long as it is there.').optional(),
    title: text('Of the incident, as long as it is there.').optional(),
    state: z.enum(['waiting', 'sent', 'failed', 'summed', 'dropped']),
    at: Time.describe('When it ended; of one that waits, when it was made. Milliseconds since 1970.'),
    dueAt: Time.optional(),
    tries: z.int(),
    outcome: text('How the last try ended, in words.'),
    target: z.string(),
  })
  .meta({ id: 'Notification' }) satisfies z.core.$ZodType<NoticeShape>;

export const NotificationList = z
  .strictObject({
    targets: z.array(z.string()).describe('Who is told, without what is secret in it.'),
    waiting: z.array(Notification).describe('The one that is due next first.'),
    waitingCount: z.int(),
    done: z.array(Notification).describe('The latest first.'),
  })
  .meta({ id: 'NotificationList' });

export const TestResults = z
  .strictObject({ results: z.array(z.strictObject({ target: z.string(), ok: z.boolean(), words: z.string() })) })
  .meta({ id: 'TestResults' });

export const ExportLine = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('incident'), ...head, firstRelease: z.string(), lastRelease: z.string() }),
    z.strictObject({
      type: z.literal('occurrence'),
      digest: text('Of its incident.'),
      environment,
      ...Occurrence.shape,
    }),
    z.strictObject({ type: z.literal('end'), incidents: z.int(), occurrences: z.int() }),
  ])
  .meta({
    id: 'ExportLine',
    description: 'An incident is followed by its occurrences. Where the last line is no `end`, something is missing.',
  });
