import { operation } from '../../../shared/engine/api/operation.ts';
import { type ApiPart, implement } from '../../engine/api/implement.ts';
import { HttpError } from '../../engine/errors/http-error.ts';
import { keyOf } from '../store/incident-key.ts';
import { presentFeedback } from '../views/present-incident.ts';
import { type ApiContext, requireIncident, UNKNOWN } from './context.ts';
import { FeedbackList } from './replies.ts';
import { InEnvironment, LimitInEnvironment, OfFeedback, OfIncident } from './requests.ts';

const GONE = 'No feedback has this id. It may have been deleted.';

const operations = {
  listFeedback: operation({
    method: 'GET',
    path: '/incidents/:digest/feedback',
    summary: 'List feedback on an incident',
    params: OfIncident,
    query: LimitInEnvironment,
    replies: { 200: { about: 'The feedback.', body: FeedbackList } },
    problems: { 404: UNKNOWN },
  }),
  deleteFeedback: operation({
    method: 'DELETE',
    path: '/incidents/:digest/feedback/:id',
    summary: 'Delete feedback',
    params: OfFeedback,
    query: InEnvironment,
    replies: { 204: { about: 'The feedback was deleted.' } },
    problems: { 404: GONE },
  }),
};

export function feedbackApi(context: ApiContext): ApiPart {
  return implement(
    operations,
    {
      async listFeedback({ params, query }) {
        const incident = await requireIncident(context, params.digest, query);
        const feedback = await context.ask('listFeedback', keyOf(incident), query.limit);
        return { status: 200, body: { feedback: feedback.map(presentFeedback) } };
      },
      async deleteFeedback({ params, query, caller }) {
        const incident = await requireIncident(context, params.digest, query);
        const isGone = await context.ask('deleteFeedback', keyOf(incident), params.id, caller.name);
        if (!isGone) throw new HttpError(404, GONE);
        return { status: 204 };
      },
    },
    context,
  );
}
