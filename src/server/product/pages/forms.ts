import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod';
import { redirect } from '#engine';
import { conflict, formAction, invalid } from '#engine/server';
import { definePage } from '../context.ts';

const MAX_GATES = 20;

const Message = z.object({
  name: z.string().trim().min(1, 'Enter your name.').max(100, 'Use at most 100 characters.'),
  email: z.email('Enter a full email address, such as ada@example.org.'),
  message: z.string().trim().min(10, 'Write at least ten characters.').max(2000, 'Use at most 2,000 characters.'),
});

const NewGate = z.object({
  name: z.string().trim().min(1, 'Enter a name.').max(60, 'Use at most 60 characters.'),
});

const gates = [
  { id: 'gate-1', name: 'North gate' },
  { id: 'gate-2', name: 'South gate' },
];
let lastGate = gates.length;
let likes = 0;

export const forms = definePage({
  loader: () => ({ gates: [...gates], likes }),
  actions: {
    send: formAction(Message, async ({ signal }) => {
      // Slow enough to show the pending state.
      await setTimeout(400, undefined, { signal });
      return { sentAt: new Date() };
    }),

    add: formAction(NewGate, ({ data: { name } }) => {
      if (gates.some((other) => other.name === name)) {
        return conflict({ errors: { name: 'A gate with this name already exists.' } });
      }
      if (gates.length === MAX_GATES) {
        return conflict({ errors: { name: `The list is full (${MAX_GATES} gates). Remove one first.` } });
      }
      lastGate += 1;
      gates.push({ id: `gate-${lastGate}`, name });
      redirect('/tour/forms#gates');
    }),

    remove: ({ form }) => {
      const index = gates.findIndex(({ id }) => id === form.get('id'));
      if (index >= 0) gates.splice(index, 1); // if it is gone already, nothing is left to do
      redirect('/tour/forms#gates');
    },

    upload: {
      maxBytes: 64 * 1024 * 1024,
      async run({ form }) {
        const file = form.get('file');
        if (!(file instanceof File) || file.name === '') return invalid({ errors: { file: 'Choose a file.' } });
        const hash = createHash('sha256');
        for await (const bytes of file.stream()) hash.update(bytes);
        return { name: file.name, bytes: file.size, type: file.type, hash: hash.digest('hex').slice(0, 16) };
      },
    },

    like: () => {
      likes += 1;
      return { likes };
    },
  },
});
