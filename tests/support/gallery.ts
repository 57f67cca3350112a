import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAddress } from '../../src/server/desk/address.ts';
import { openDriver } from '../../src/server/desk/store/open-driver.ts';
import type { Found, ResolvedFrame, StoredFailure } from '../../src/server/desk/store/records.ts';
import { openStore } from '../../src/server/desk/store/store.ts';
import { DIGEST_RULE } from '../../src/server/engine/errors/digest/create-digest.ts';
import { createTestLog } from './desk.ts';

/** `src/server/product/pay.ts:7` */
export type Place = string;

/** Where the comments `// fails: <name>` stand. @param folder of the app, whose `src` is searched */
export function readPlaces(folder: string): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  for (const entry of readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })) {
    const path = `src/${entry.replaceAll('\\', '/')}`;
    if (!/\/product\/.*\.tsx?$/.test(path)) continue;
    for (const [index, line] of readFileSync(join(folder, path), 'utf8').split('\n').entries()) {
      const name = /\/\/ fails: (\S+)$/.exec(line)?.[1];
      if (name) places.set(name, `${path}:${index + 1}`);
    }
  }
  return places;
}

/**
 * What the desk of a running server knows of an address: looked up beside it, as the command does.
 *
 * @throws where the text is no address
 */
export async function lookUp(dataDir: string, text: string): Promise<Found | undefined> {
  const address = parseAddress(text);
  if (!address) throw new Error(`"${text}" is no address.`);
  const driver = openDriver({ dataDir, databaseUrl: undefined, log: createTestLog().log });
  const store = await openStore(driver, { rule: DIGEST_RULE });
  try {
    return await store.find(address);
  } finally {
    await store.close();
  }
}

/** The line of the product that failed: the first one of the outermost error that has any. */
export function placeOf({ resolved = [] }: StoredFailure): Place | undefined {
  const frame = resolved.map((frames) => frames.find(isProduct)).find((found) => found !== undefined);
  return frame && `${frame.file}:${frame.line}`;
}

function isProduct({ own, file }: ResolvedFrame): boolean {
  return own && file.includes('/product/');
}
