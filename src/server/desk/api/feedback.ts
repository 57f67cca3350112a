import { operation } from '../../engine/api/operation.ts';
import { type Resource, resource } from '../../engine/api/resource.ts';
import { HttpError } from '../../engine/errors/http-error.ts';
import { keyOf } from '../store/incident-key.ts';
import { presentFeedback } from '../views/present-incident.ts';
import { authorOf } from './caller.ts';
import { type ApiContext, requireIncident, UNKNOWN } from './context.ts';
import { FeedbackList } from './replies.ts';
import { InEnvironment, LimitInEnvironment, OfFeedback, OfIncident } from './requests.ts';

export function feedbackResource(context: ApiContext): Resource {
  return resource('/incidents/:digest/feedback', {
    GET: operation({
      id: 'listFeedback',
      summary: 'List feedback on an incident',
      params: OfIncident,
      query: LimitInEnvironment,
      replies: { 200: { about: 'The feedback.', body: FeedbackList } },
      problems: { 404: UNKNOWN },
    }).handle(async ({ params, query }) => {
      const incident = await requireIncident(context, params.digest, query);
      const feedback = await context.ask('listFeedback', keyOf(incident), query.limit);
      return { status: 200, body: { feedback: feedback.map(presentFeedback) } };
    }),
  });
}

export function oneFeedbackResource(context: ApiContext): Resource {
  const gone = 'No feedback has this id. It may have been deleted.';
  return resource('/incidents/:digest/feedback/:id', {
    DELETE: operation({
      id: 'deleteFeedback',
      summary: 'Delete feedback',
      params: OfFeedback,
      query: InEnvironment,
      replies: { 204: { about: 'The feedback was deleted.' } },
      problems: { 404: gone },
    }).handle(async ({ params, query }, request) => {
      const incident = await requireIncident(context, params.digest, query);
      const isGone = await context.ask('deleteFeedback', keyOf(incident), params.id, authorOf(request));
      if (!isGone) throw new HttpError(404, gone);
      return { status: 204 };
    }),
  });
}
