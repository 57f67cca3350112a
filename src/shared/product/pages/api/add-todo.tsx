import { useState } from 'react';
import { createClient } from '#engine';
import type { Api } from '../../api/index.ts';

const api = createClient<Api>();

/** The compiler checks the path, the body and what is read from the response. */
export function AddTodo() {
  const [answer, setAnswer] = useState<string>();

  async function add() {
    const added = await api.post('/tour/todos', { body: { title: 'Check the gauges' } });
    setAnswer(added.ok ? `To-do ${added.body.id}: ${added.body.title}` : added.problem.detail);
  }

  return (
    <p>
      <button type="button" onClick={add}>
        Add a to-do
      </button>{' '}
      <output>{answer}</output>
    </p>
  );
}
