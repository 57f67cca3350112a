import add from 'excerpt:src/server/product/pages/forms.ts#actions.add';
import send from 'excerpt:src/server/product/pages/forms.ts#actions.send';
import upload from 'excerpt:src/server/product/pages/forms.ts#actions.upload';
import contact from 'excerpt:src/shared/product/pages/forms/contact.tsx#Contact';
import likes from 'excerpt:src/shared/product/pages/forms/likes.tsx#Likes';
import { Excerpt } from '../../ui/excerpt.tsx';
import { Exhibit } from '../../ui/exhibit.tsx';
import { Page } from '../../ui/page.tsx';
import { Contact } from './contact.tsx';
import { Gates } from './gates.tsx';
import { Likes } from './likes.tsx';
import { Upload } from './upload.tsx';

export default function Forms() {
  return (
    <Page
      title="Forms"
      lead="Every form is a native form that posts to this page. With JavaScript it is sent in the background. Without it, the same actions answer with a page."
    >
      <Exhibit
        code={
          <>
            <Excerpt of={send} />
            <Excerpt of={contact} />
          </>
        }
      >
        <Contact />
      </Exhibit>
      <Exhibit code={<Excerpt of={add} />}>
        <Gates />
      </Exhibit>
      <Exhibit code={<Excerpt of={upload} />}>
        <Upload />
      </Exhibit>
      <Exhibit code={<Excerpt of={likes} />}>
        <Likes />
      </Exhibit>
    </Page>
  );
}
