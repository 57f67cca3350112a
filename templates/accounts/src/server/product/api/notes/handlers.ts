import { type ApiPart, implement, session } from '#engine/server';
import { notes } from '#product/api/notes.ts';
import { findUser } from '../../accounts/visitor.ts';
import { listNotes } from '../../notes.ts';
import type { Services } from '../../services.ts';

export function notesApi({ auth, db }: Services): ApiPart {
  return implement(
    notes,
    { listNotes: async ({ caller }) => ({ status: 200, body: await listNotes(db, caller) }) },
    { auth: session((request) => findUser(auth, request), '__Secure-app.session_token') },
  );
}
