// Throws every bug with several values and records what the engine reports.
import { bugs } from '../product/bugs.ts';

declare const print: undefined | ((line: string) => void);

function toRecord(error: any): object {
  if (!(error instanceof Error)) return { class: 'NonError', message: typeof error === 'string' ? error : String(error?.message ?? error), stack: '' };
  return {
    class: error.name,
    message: error.message,
    stack: error.stack ?? '',
    code: (error as any).code,
    members: (error as any).errors?.map((one: Error) => one.name),
  };
}

function toChain(error: any): object[] {
  const chain: object[] = [];
  for (let current = error; current !== undefined && current !== null && chain.length < 10; current = current.cause) chain.push(toRecord(current));
  return chain.length > 0 ? chain : [toRecord(error)];
}

export async function run(has: (name: string) => boolean): Promise<object[]> {
  const found: object[] = [];
  for (const [id, { needs, fail }] of Object.entries(bugs)) {
    if (needs && !has(needs)) continue;
    for (const value of [1, 2, 3]) {
      try {
        await fail(value);
        found.push({ id, value, errors: [{ class: 'Missing', message: 'did not fail', stack: '' }] });
      } catch (error) {
        found.push({ id, value, errors: toChain(error) });
      }
    }
  }
  return found;
}
