import { Prose } from './prose.tsx';

export default function About() {
  return <Prose title="About" paragraphs={30} />;
}
