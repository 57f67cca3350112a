import { operation } from '../../../shared/engine/api/operation.ts';
import { type ApiPart, implement } from '../../engine/api/implement.ts';
import { HttpError } from '../../engine/errors/http-error.ts';
import { type ApiContext, requireIncident, UNKNOWN } from './context.ts';
import { presentNote } from './present.ts';
import { Note, NoteList } from './replies.ts';
import { InEnvironment, LimitInEnvironment, NewNote, OfIncident, OfNote } from './requests.ts';

const GONE = 'No note has this id. It may have been deleted.';

const operations = {
  listNotes: operation({
    method: 'GET',
    path: '/incidents/:digest/notes',
    summary: 'List notes on an incident',
    params: OfIncident,
    query: LimitInEnvironment,
    replies: { 200: { about: 'The notes.', body: NoteList } },
    problems: { 404: UNKNOWN },
  }),
  addNote: operation({
    method: 'POST',
    path: '/incidents/:digest/notes',
    summary: 'Add a note to an incident',
    params: OfIncident,
    query: InEnvironment,
    body: NewNote,
    replies: {
      201: { about: 'The note.', body: Note, headers: { Location: 'The URL of the note, for deleting it.' } },
    },
    problems: { 404: UNKNOWN },
  }),
  deleteNote: operation({
    method: 'DELETE',
    path: '/notes/:id',
    summary: 'Delete a note',
    params: OfNote,
    replies: { 204: { about: 'The note was deleted.' } },
    problems: { 404: GONE },
  }),
};

export function notesApi(context: ApiContext): ApiPart {
  const { calls } = context;
  return implement(
    operations,
    {
      async listNotes({ params, query }) {
        const incident = await requireIncident(context, params.digest, query);
        const notes = await calls.listNotes(incident.key, query.limit);
        return { status: 200, body: { notes: notes.map(presentNote) } };
      },
      async addNote({ params, query, body, caller }) {
        const incident = await requireIncident(context, params.digest, query);
        const note = await calls.addNote(incident.key, body.text, caller.name);
        if (!note) throw new HttpError(404, UNKNOWN);
        return { status: 201, body: presentNote(note), headers: { Location: `/api/desk/notes/${note.id}` } };
      },
      async deleteNote({ params, caller }) {
        if (!(await calls.deleteNote(params.id, caller.name))) throw new HttpError(404, GONE);
        return { status: 204 };
      },
    },
    context,
  );
}
