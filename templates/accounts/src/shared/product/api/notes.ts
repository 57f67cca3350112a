import * as z from 'zod';
import { operation } from '#engine';

/** What callers get. Only these fields are sent. */
export const Note = z.object({ id: z.string(), text: z.string(), createdAt: z.iso.datetime() }).meta({ id: 'Note' });

export const notes = {
  listNotes: operation({
    method: 'GET',
    path: '/notes',
    summary: 'List your notes',
    replies: { 200: { about: 'Your newest 100 notes.', body: Note.array() } },
  }),
};
