import { Prose } from './prose.tsx';

export default function Terms() {
  return <Prose title="Terms" paragraphs={240} />;
}
