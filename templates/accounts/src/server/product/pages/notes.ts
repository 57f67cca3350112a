import { formAction, type ServerPage } from '#engine/server';
import { NoteFields } from '#product/note-fields.ts';
import type { NotesActions, NotesData } from '#product/pages/notes/notes.tsx';
import { requireUser } from '../accounts/require-user.ts';
import type { AppContext } from '../context.ts';
import { addNote, listNotes } from '../notes.ts';

export const notes = {
  guard(args) {
    requireUser(args);
  },
  loader: async (args) => ({ notes: await listNotes(args.context.services.db, requireUser(args)) }),
  actions: {
    add: formAction(NoteFields, async ({ data, ...args }) => {
      await addNote(args.context.services.db, requireUser(args), data.text);
    }),
  },
} satisfies ServerPage<NotesData, AppContext, NotesActions>;
