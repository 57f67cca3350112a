import { formAction } from '#engine/server';
import { NoteFields } from '#product/note-fields.ts';
import { requireUser } from '../accounts/require-user.ts';
import { definePage } from '../context.ts';
import { addNote, listNotes } from '../notes.ts';

export const notes = definePage({
  guard(args) {
    requireUser(args);
  },
  loader: async (args) => ({ notes: await listNotes(args.context.services.db, requireUser(args)) }),
  actions: {
    add: formAction(NoteFields, async ({ data, ...args }) => {
      await addNote(args.context.services.db, requireUser(args), data.text);
    }),
  },
});
