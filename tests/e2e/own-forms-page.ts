export const OTHER = 'http://other.example';

/** Fields with these names replace properties and methods of their form. */
const CLOBBERING =
  'target action method enctype encoding id name elements length submit requestSubmit reset noValidate acceptCharset closest isConnected getAttribute hasAttribute removeAttribute setAttribute querySelector'.split(
    ' ',
  );

/** A page with forms of all kinds. */
export const formsPage = `
import { useState } from 'react';
import { useFetcher, useNavigation, useSearchParams } from 'react-router';
import { Link, useRefresh } from '#engine';
import { useActionResult } from '../../rendering/hooks.ts';
import { Form } from '../../rendering/actions.tsx';
export default function Forms() {
  const result = useActionResult('forms.save');
  const old = useActionResult('forms.old');
  const attached = useActionResult('forms.attach');
  const navigation = useNavigation();
  const fetcher = useFetcher();
  const attaching = useFetcher();
  const refresh = useRefresh();
  const [typed, setTyped] = useState('');
  const [search] = useSearchParams();
  const isFinished = result?.data?.some(([name]) => name === 'finished');
  const fields = (button) => <><input name="text" defaultValue="typed" /><button>{button}</button></>;
  return (
    <>
      <title>{isFinished ? 'Finished' : 'Forms'}</title>
      <h1>Forms</h1>
      <output id="result">{JSON.stringify(result?.data ?? attached?.data ?? (result ?? attached ?? old)?.errors?.[''] ?? null)}</output>
      <output id="state">{navigation.state + ' ' + fetcher.state}</output>
      <output id="search">{JSON.stringify([...search])}</output>

      <Form action="forms.save" to="${OTHER}/post">{fields('Post elsewhere')}</Form>
      <Form method="get" to="${OTHER}/get">{fields('Search elsewhere')}</Form>
      <Form action="forms.save" to="http://[">{fields('Post nowhere')}</Form>
      <Form action="forms.save">
        <input name="text" defaultValue="typed" />
        <button formAction="${OTHER}/button">Post elsewhere by its button</button>
      </Form>

      <dialog open id="button" style={{ position: 'static' }}>
        <Form action="forms.save">
          <input type="password" name="password" defaultValue="secret" required pattern="x" />
          <button formMethod="DIALOG" formNoValidate>Cancel</button>
        </Form>
      </dialog>
      <dialog open id="fetcher" style={{ position: 'static' }}>
        <fetcher.Form method="post">
          <input type="password" name="password" defaultValue="secret" />
          <button formMethod="dialog">Cancel the fetcher</button>
        </fetcher.Form>
      </dialog>
      <fetcher.Form method="post">
        <input name="text" defaultValue="typed" />
        <button formAction="${OTHER}/fetcher">Post elsewhere in place of a fetcher</button>
      </fetcher.Form>
      <dialog open id="form" style={{ position: 'static' }}>
        <Form method="dialog">
          <input type="password" name="password" defaultValue="secret" />
          <button>Close</button>
        </Form>
      </dialog>

      {search.has('clobbered') && (
        <Form action="forms.save" reset>
          {${JSON.stringify(CLOBBERING)}.map((name) => <input key={name} name={name} id={name} />)}
          <button className="clobbered">Save</button>
        </Form>
      )}
      <Form action="forms.save" target="_self">{fields('Save into this tab')}</Form>
      <Form action="forms.save">
        <input name="text" defaultValue="typed" />
        <button formTarget="_SELF">Save into this tab by its button</button>
      </Form>

      <Form action="forms.leave">{fields('Leave')}</Form>
      <fetcher.Form method="post">
        <button name="_action" value="forms.leave">Leave by a fetcher</button>
      </fetcher.Form>
      <Link to="/file.csv">Download</Link>

      <Form action="forms.save" to="/forms?a=1#state">{fields('Save at a hash')}</Form>
      <Form method="get" to="/forms#state">{fields('Search at a hash')}</Form>
      <Form action="forms.save" to="/forms?step=refuses">{fields('Be refused by a step')}</Form>
      <Form action="forms.save" to="/forms?step=fails">{fields('Be failed by a step')}</Form>
      <Form action="forms.save" to="/forms?step=redirects">{fields('Be redirected by a step')}</Form>
      <Link to="/list?step=redirects">A link that a step redirects</Link>
      <Form action="forms.save" to="/legacy">{fields('Save in another app')}</Form>
      <Link to="/forms/?x=1#state">A slash too many</Link>
      <Link to="/moved?x=1#state">Moved</Link>

      <Form action="forms.save" aria-label="lines">
        <textarea name="text" />
        <button>Save lines</button>
        <button formEncType="multipart/form-data">Save lines in parts</button>
        <button formMethod="get">Search lines</button>
      </Form>
      <Form action="forms.save" aria-label="reset" reset>{fields('Save and reset')}</Form>
      <Form action="forms.save"><button disabled={navigation.state !== 'idle'}>Save and wait</button></Form>
      {!isFinished && <Form action="forms.save"><button name="finished">Finish</button></Form>}
      <button type="button" onClick={refresh}>Refresh</button>
      <button type="button" onClick={async () => setTyped(String(await refresh({ reload: false })))}>Refresh and stay</button>
      <Form action="forms.old" encType="multipart/form-data" aria-label="old">
        <input name="text" />
        <textarea name="lines" />
        <select name="choice"><option>1</option><option>2</option></select>
        <select name="many" multiple><option>1</option><option>2</option><option>3</option></select>
        {['1', '2'].map((value) => <input key={value} type="checkbox" name="box" value={value} />)}
        <input name="state" value={typed} onChange={(event) => setTyped(event.target.value)} />
        <input type="password" name="pin" />
        <input name="card" autoComplete="cc-number" />
        <input type="file" name="file" aria-label="Kept by no one" />
        <button>Save the old way</button>
        <button formAction="/forms?ended">Save after the session ended</button>
        <button formAction="/forms?broken">Save while the server fails</button>
      </Form>
      <p id="typed">{typed}</p>
      <Form action="forms.save" encType="multipart/form-data">
        <input type="file" name="file" aria-label="File" />
        <button>Upload</button>
        <button name="_action" value="forms.attach">Attach</button>
      </Form>
      <attaching.Form method="post" encType="multipart/form-data">
        <input type="file" name="file" aria-label="Attachment" />
        <button name="_action" value="forms.attach">Attach by a fetcher</button>
        <output id="attached">{JSON.stringify(attaching.data?.data ?? attaching.data?.errors)}</output>
      </attaching.Form>
    </>
  );
}`;
