import { Code } from '../../ui/code.tsx';
import { Page } from '../../ui/page.tsx';
import { Contact } from './contact.tsx';
import { Gates } from './gates.tsx';
import { Likes } from './likes.tsx';
import { Upload } from './upload.tsx';

export interface Gate {
  id: string;
  name: string;
}

export interface FormsData {
  gates: Gate[];
  likes: number;
}

export interface Sent {
  sentAt: Date;
}

export interface UploadedFile {
  name: string;
  bytes: number;
  type: string;
}

export default function Forms() {
  return (
    <Page
      title="Forms"
      lead="Every form here is a native one that is posted to this page. With JavaScript the post happens in the background; without it, the same actions answer with a page."
    >
      <Contact />
      <Gates />
      <Upload />
      <Likes />
      <Code file="src/shared/product/pages/forms/contact.tsx">{`
const outcome = useActionOutcome('forms.send');
<Form action="forms.send" method="post">…</Form>
`}</Code>
      <Code file="src/server/product/pages/forms.ts">{`
actions: {
  send: ({ form }) => {
    const message = Message.safeParse(Object.fromEntries(form));
    if (!message.success) return invalid({ errors: toFieldErrors(message.error) });
    return { sentAt: new Date() };
  },
}
`}</Code>
    </Page>
  );
}
