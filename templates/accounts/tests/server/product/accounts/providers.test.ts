import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { betterAuth } from 'better-auth';
import { genericOAuth } from 'better-auth/plugins';
import request from 'supertest';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Auth } from '#product-server/accounts/auth.ts';
import { openApp } from '../../../support/product/open-app.ts';
import { addUser, openTestServices } from '../../../support/product/visitor.ts';

const ADA = { id: '1', email: 'ada@example.com', email_verified: true, name: 'Ada' };

/** The status and the body of each address of the provider. Undefined for one that does not answer. */
type Answers = Record<'/token' | '/user' | '/discovery', [status: number, body: object] | undefined>;

/** Starts another provider, Acme. The code `made-up` is refused. */
async function startProvider(answers: Answers): Promise<string> {
  const server = createServer(async (asked, response) => {
    const isMadeUp = (await text(asked)).includes('code=made-up');
    const found = isMadeUp ? ([400, { error: 'invalid_grant' }] as const) : answers[asked.url as keyof Answers];
    if (!found) return void vi.advanceTimersByTime(10_000);
    const [status, answer] = found;
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

async function openAcme(options: { isDiscovered?: boolean } = {}) {
  const answers: Answers = {
    '/token': [200, { access_token: 'a', token_type: 'Bearer' }],
    '/user': [200, ADA],
    '/discovery': [503, {}],
  };
  const url = await startProvider(answers);
  const errors: string[] = [];
  const { services } = await openTestServices({ log: { ...console, error: (_, message) => errors.push(message) } });
  const addresses = { authorizationUrl: `${url}/authorize`, tokenUrl: `${url}/token`, userInfoUrl: `${url}/user` };
  const acme = genericOAuth({
    config: [
      {
        providerId: 'acme',
        clientId: 'an-id',
        clientSecret: 'a-secret',
        ...(options.isDiscovered ? { discoveryUrl: `${url}/discovery` } : addresses),
      },
    ],
  });
  const auth = betterAuth({ ...services.auth.options, plugins: [acme] }) as unknown as Auth;
  const { app, failures } = await openApp({ services: { ...services, auth } });
  const visitor = request.agent(app);
  /** Signs in at the provider, which sends the visitor back with these parameters. */
  async function signIn(parameters: object = { code: 'right' }, path = '/auth/sign-in/acme') {
    const sent = await visitor.get(path).expect(302);
    const { searchParams } = new URL(sent.headers.location ?? '', 'http://localhost');
    return visitor.get('/auth/callback/acme').query({ state: searchParams.get('state'), ...parameters });
  }
  /** Opens the page that a reply leads to. */
  const follow = async ({ headers }: { headers: Record<string, string> }) =>
    (await visitor.get((headers.location ?? '').replace('http://localhost:3000', '')).expect(200)).text;
  return { answers, errors, failures, follow, services, signIn, visitor };
}

it('returns to the page that asked to sign in, also after a second try', async () => {
  const { visitor, signIn, follow } = await openAcme();
  const page = await visitor.get('/sign-in?to=%2Fnotes%3Fpage%3D2').expect(200);
  const link = '/auth/sign-in/acme?to=%2Fnotes%3Fpage%3D2';
  expect(page.text).toContain(`href="${link}"`);
  const refused = await follow(await signIn({ error: 'access_denied' }, link));
  expect(refused).toContain(`href="${link}"`);
  expect(refused).toContain('href="/sign-up?to=%2Fnotes%3Fpage%3D2"');
  expect((await signIn(undefined, link)).headers.location).toBe('/notes?page=2');
  await visitor.get('/notes').expect(200);
});

it('does not lead to another site', async () => {
  const { signIn } = await openAcme();
  expect((await signIn(undefined, '/auth/sign-in/acme?to=https%3A%2F%2Fevil.example')).headers.location).toBe('/');
});

it('says what to do if the visitor or the provider did not allow it', async () => {
  const { signIn, follow, answers, services, failures, errors } = await openAcme();
  expect(await follow(await signIn({ error: 'access_denied' }))).toContain('You did not allow');
  await addUser(services);
  answers['/user'] = [200, { ...ADA, email_verified: false }];
  expect(await follow(await signIn())).toContain('already has an account');
  answers['/user'] = [200, { ...ADA, email: undefined }];
  expect(await follow(await signIn())).toContain('did not share your email address');
  expect([await failures(), errors]).toEqual([[], []]);
});

it('logs no error for what a stranger made up', async () => {
  const { signIn, follow, visitor, failures, errors } = await openAcme();
  const again = 'Signing in was not completed. Try again.';
  for (const query of ['code=a&state=b', 'code=a', 'code=a&code=b&state=c', '', 'error=x&state=y']) {
    expect(await follow(await visitor.get(`/auth/callback/acme?${query}`).expect(302))).toContain(again);
  }
  expect(await follow(await signIn({ code: 'made-up' }))).toContain(again);
  expect(await follow(await visitor.get('/auth/callback/nobody?code=a&state=b'))).toContain(again);
  const shown = await visitor.get('/sign-in?error=unavailable&address=%3Cb%3EYour+account+is+locked').expect(200);
  expect(shown.text).not.toContain('locked');
  expect([await failures(), errors]).toEqual([[], []]);
});

it.each(['/token', '/user'] as const)('gives a failure an address if %s of the provider fails', async (path) => {
  const { signIn, follow, answers, failures } = await openAcme();
  answers[path] = [500, { error: 'server_error' }];
  const shown = await follow(await signIn(undefined, '/auth/sign-in/acme?to=%2Fnotes'));
  const [failed = ''] = await failures();
  expect(failed).toContain('Signing in with acme failed');
  expect(shown).toContain('is not available');
  expect(shown).toContain(`Digest: <code>${failed.slice(0, 8)}-`);
  expect(shown).toContain('href="/auth/sign-in/acme?to=%2Fnotes"');
});

it('gives up on a provider that does not answer', async () => {
  const { signIn, follow, answers, failures } = await openAcme();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  answers['/token'] = undefined;
  const reply = await signIn();
  vi.useRealTimers();
  expect(await follow(reply)).toContain('is not available');
  expect((await failures()).join()).toContain('Signing in with acme failed');
});

it('gives a failure an address if the provider cannot be found', async () => {
  const { visitor, follow, failures } = await openAcme({ isDiscovered: true });
  const shown = await follow(await visitor.get('/auth/sign-in/acme').expect(302));
  const [failed = ''] = await failures();
  expect(failed).toContain('Signing in with acme failed');
  expect(shown).toContain(`Digest: <code>${failed.slice(0, 8)}-`);
});
