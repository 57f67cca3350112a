import * as z from 'zod';

export const NoteFields = z.object({
  text: z.string().trim().min(1, 'Write something.').max(1000, 'Use at most 1,000 characters.'),
});
