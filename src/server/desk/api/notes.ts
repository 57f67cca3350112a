import { operation } from '../../engine/api/operation.ts';
import { type Resource, resource } from '../../engine/api/resource.ts';
import { HttpError } from '../../engine/errors/http-error.ts';
import { keyOf } from '../store/incident-key.ts';
import { authorOf } from './caller.ts';
import { type ApiContext, requireIncident, UNKNOWN } from './context.ts';
import { presentNote } from './present.ts';
import { Note, NoteList } from './replies.ts';
import { InEnvironment, LimitInEnvironment, NewNote, OfIncident, OfNote } from './requests.ts';

export function notesResource(context: ApiContext): Resource {
  const { ask } = context;
  return resource('/incidents/:digest/notes', {
    GET: operation({
      id: 'listNotes',
      summary: 'List notes on an incident',
      params: OfIncident,
      query: LimitInEnvironment,
      replies: { 200: { about: 'The notes.', body: NoteList } },
      problems: { 404: UNKNOWN },
    }).handle(async ({ params, query }) => {
      const incident = await requireIncident(context, params.digest, query);
      const notes = await ask('listNotes', keyOf(incident), query.limit);
      return { status: 200, body: { notes: notes.map(presentNote) } };
    }),

    POST: operation({
      id: 'addNote',
      summary: 'Add a note to an incident',
      params: OfIncident,
      query: InEnvironment,
      body: NewNote,
      replies: {
        201: { about: 'The note.', body: Note, headers: { Location: 'The URL of the note, for deleting it.' } },
      },
      problems: { 404: UNKNOWN },
    }).handle(async ({ params, query, body }, request) => {
      const incident = await requireIncident(context, params.digest, query);
      const note = await ask('addNote', keyOf(incident), body.text, authorOf(request));
      if (!note) throw new HttpError(404, UNKNOWN);
      return { status: 201, body: presentNote(note), headers: { Location: `/api/desk/notes/${note.id}` } };
    }),
  });
}

export function noteResource({ ask }: ApiContext): Resource {
  const gone = 'No note has this id. It may have been deleted.';
  return resource('/notes/:id', {
    DELETE: operation({
      id: 'deleteNote',
      summary: 'Delete a note',
      params: OfNote,
      replies: { 204: { about: 'The note was deleted.' } },
      problems: { 404: gone },
    }).handle(async ({ params }, request) => {
      if (!(await ask('deleteNote', params.id, authorOf(request)))) throw new HttpError(404, gone);
      return { status: 204 };
    }),
  });
}
