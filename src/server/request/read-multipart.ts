import { isUtf8 } from 'node:buffer';
import { openAsBlob } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Busboy } from '@fastify/busboy';
import { MULTIPART } from '../../shared/wire/protocol.ts';
import { FORM_PIECE, MAX_FORM_FIELDS, MAX_FORM_MEMORY } from '../limits.ts';
import { BodyTooLarge, bodies, type HeldBody } from './body-reader.ts';
import { badRequest, HttpError } from './http-error.ts';
import { TOO_MANY_FIELDS } from './parse-body.ts';
import { createUploadFolder, requireSpace } from './upload-folder.ts';

/** The type of a form without files. */
export const URL_ENCODED = 'application/x-www-form-urlencoded';

export interface MultipartRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Of the `Content-Type`. */
  readonly boundary: string;
  /** The largest body (bytes). */
  readonly limit: number;
  /**
   * Called before the first byte goes to disk, with the fields before it. Returns the largest body (bytes).
   *
   * @throws if the form is not accepted
   */
  readonly admit?: ((fields: FormData) => Promise<number>) | undefined;
}

/** A form, and its files. */
export interface ReceivedForm {
  readonly form: FormData;
  /** The size of its body. */
  readonly bytes: number;
  /** Removes its files. Never rejects. */
  readonly remove: () => Promise<void>;
}

interface Part {
  readonly name: string;
  /** What is in memory of it. */
  readonly pieces: Buffer[];
  isWhole: boolean;
  /** Undefined for a text. */
  readonly file: Stored | undefined;
}

interface Stored {
  readonly name: string;
  readonly type: string;
  /** Where the rest of it is. */
  path?: string;
}

const MALFORMED = 'The form is malformed: its parts are not valid multipart/form-data (RFC 7578).';

/** RFC 2046, section 5.1.1. None of the characters has a meaning in `Content-Type`. */
const BOUNDARY = /^[\w'()+,./:=? -]{1,70}$/;

/**
 * Reads a multipart form. The files of a large one go to disk while they arrive, and its `File`s read them from there.
 *
 * @throws HttpError 400 if it is malformed, 413 for too many parts, and the errors of `bodies.read()`
 */
export async function readMultipart({ req, res, boundary, limit, admit }: MultipartRequest): Promise<ReceivedForm> {
  if (!BOUNDARY.test(boundary)) throw badRequest(MALFORMED);
  const parts: Part[] = [];
  const { write, end } = parseParts(boundary, parts);
  const announced = Number(req.headers['content-length']);
  const full = announced > MAX_FORM_MEMORY ? FORM_PIECE : MAX_FORM_MEMORY;
  let most = limit;
  let bytes = 0;
  let inMemory = 0;
  let folder: string | undefined;
  let taking: Promise<void> | undefined;
  let body: HeldBody | undefined;

  async function take(piece: Buffer, { hold }: HeldBody): Promise<void> {
    bytes += piece.length;
    inMemory += piece.length;
    hold(piece.length);
    await write(piece);
    if (inMemory > full) await store(hold);
    if (inMemory > MAX_FORM_MEMORY) throw new BodyTooLarge(MAX_FORM_MEMORY); // of text
    if (bytes > most) throw new BodyTooLarge(most);
  }

  async function store(hold: HeldBody['hold']): Promise<void> {
    for (const [index, { file, pieces: inPart }] of parts.entries()) {
      if (!file || inPart.length === 0) continue;
      folder ??= await open();
      await requireSpace(folder);
      file.path ??= join(folder, String(index));
      const pieces = inPart.splice(0);
      const moved = pieces.reduce((sum, { length }) => sum + length, 0);
      hold(moved, 'disk');
      await writeFile(file.path, pieces, { flag: 'a', mode: 0o600 });
      hold(-moved);
      inMemory -= moved;
    }
  }

  async function open(): Promise<string> {
    await nextTurn(); // parts end a little after the parser has read on
    if (admit) most = await admit(await toForm(parts.filter(({ file, isWhole }) => !file && isWhole)));
    if (announced > most) throw new BodyTooLarge(most);
    return createUploadFolder();
  }

  async function remove(): Promise<void> {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    body?.release();
  }

  try {
    body = await bodies.receive({ req, res, limit }, (piece, held) => {
      taking = take(piece, held);
      return taking;
    });
    await end();
    if (folder !== undefined) await store(body.hold);
    return { form: await toForm(parts), bytes, remove };
  } catch (error) {
    await taking?.catch(() => undefined); // it can still be writing
    await remove();
    throw error;
  }
}

/** Parses the parts of a form into `parts`, in their order. */
function parseParts(boundary: string, parts: Part[]) {
  let failure: HttpError | undefined;
  let reject: (error: HttpError) => void = () => undefined;
  function fail(error: HttpError): void {
    failure ??= error;
    reject(failure);
  }
  const refuse = () => fail(badRequest(MALFORMED));
  const parser = new Busboy({
    headers: { 'content-type': `${MULTIPART}; boundary="${boundary}"` },
    // Texts too, because it would decode a text by the charset that its part names, and replace what is not UTF-8.
    isPartAFile: () => true,
    limits: { parts: MAX_FORM_FIELDS },
  })
    .on('file', (name: string | undefined, stream, fileName: string | undefined, _encoding, type) => {
      if (name === undefined || hasNul(name) || hasNul(fileName)) refuse();
      const file = fileName === undefined ? undefined : { name: decodeName(fileName), type };
      const part: Part = { name: decodeName(name ?? ''), pieces: [], isWhole: false, file };
      const end = () => {
        part.isWhole = true;
      };
      stream
        .on('data', (piece: Buffer) => part.pieces.push(piece))
        .on('end', end)
        .on('error', refuse);
      parts.push(part);
    })
    .on('partsLimit', () => fail(new HttpError(413, TOO_MANY_FIELDS)))
    .on('error', refuse);
  // It can come before the end, if nothing is before the last boundary.
  const finished = new Promise<void>((resolve) => parser.on('finish', () => resolve()));
  const unlessFailed = (run: (done: () => void) => void) =>
    new Promise<void>((resolve, refused) => {
      reject = refused;
      if (failure) refused(failure);
      else run(resolve);
    });
  return {
    /** Resolves when the parser can take more. */
    write: (piece: Buffer) => unlessFailed((done) => parser.write(piece, () => done())),
    /** Resolves when all parts are there. */
    end: () =>
      unlessFailed((done) => {
        parser.end();
        void finished.then(done);
      }),
  };
}

/** Undoes what browsers do to names in the headers of parts. */
function decodeName(name: string): string {
  return name.replace(/%(?:0A|0D|22)/g, decodeURIComponent);
}

async function toForm(parts: readonly Part[]): Promise<FormData> {
  const form = new FormData();
  for (const { name, pieces, file } of parts) form.append(name, file ? await toFile(file, pieces) : toText(pieces));
  return form;
}

function toText(pieces: readonly Buffer[]): string {
  const bytes = Buffer.concat(pieces);
  const text = bytes.toString();
  if (!isUtf8(bytes) || hasNul(text)) throw badRequest(MALFORMED);
  return text;
}

function hasNul(text = ''): boolean {
  return text.includes('\0');
}

/** Reads a file on disk when it is used. */
async function toFile({ name, type, path }: Stored, pieces: readonly Buffer[]): Promise<File> {
  const content = path === undefined ? pieces : [await openAsBlob(path)];
  return new File(content as BlobPart[], name, { type });
}
