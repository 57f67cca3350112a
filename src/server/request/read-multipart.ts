import { openAsBlob } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Busboy } from '@fastify/busboy';
import { FORM_PIECE, MAX_FORM_FIELDS, MAX_FORM_MEMORY } from '../limits.ts';
import { BodyTooLarge, bodies, type HeldBody } from './body-reader.ts';
import { badRequest, HttpError } from './http-error.ts';
import { createUploadFolder, requireSpace } from './upload-folder.ts';

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
  readonly text?: string;
  readonly file?: Stored;
}

interface Stored {
  readonly name: string;
  readonly type: string;
  /** What is in memory of it. */
  readonly pieces: Buffer[];
  /** Where the rest of it is. */
  path?: string;
}

const MALFORMED = 'The form is malformed: its parts are not valid multipart/form-data (RFC 7578).';

/** RFC 2046, section 5.1.1. None of the characters has a meaning in `Content-Type`. */
const BOUNDARY = /^[\w'()+,./:=? -]{1,70}$/;

/**
 * Reads a multipart form. The files of a large one go to disk while they arrive, and its `File`s read them from there.
 *
 * @throws HttpError 400 if it is malformed, 413 for too many parts, and the errors of `BodyReader`
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
    for (const [index, { file }] of parts.entries()) {
      if (!file?.pieces.length) continue;
      folder ??= await open();
      await requireSpace(folder);
      file.path ??= join(folder, String(index));
      const pieces = file.pieces.splice(0);
      const moved = pieces.reduce((sum, { length }) => sum + length, 0);
      hold(moved, 'disk');
      await writeFile(file.path, pieces, { flag: 'a', mode: 0o600 });
      hold(-moved);
      inMemory -= moved;
    }
  }

  async function open(): Promise<string> {
    if (admit) most = await admit(await toForm(parts.filter(({ file }) => !file)));
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
  const add = (name: string | undefined, part: Omit<Part, 'name'>) => {
    const hasNul = [name, part.text, part.file?.name].some((text) => text?.includes('\0'));
    if (name === undefined || hasNul) refuse();
    else parts.push({ name: decodeName(name), ...part });
  };
  const parser = new Busboy({
    headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
    isPartAFile: (_name, _type, fileName) => fileName !== undefined,
    limits: { parts: MAX_FORM_FIELDS, fieldSize: MAX_FORM_MEMORY },
  })
    .on('field', (name, text) => add(name, { text }))
    .on('file', (name, stream, fileName, _encoding, type) => {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece)).on('error', refuse);
      add(name, { file: { name: decodeName(fileName), type, pieces } });
    })
    .on('partsLimit', () => fail(new HttpError(413, `The form has more than ${MAX_FORM_FIELDS} fields.`)))
    .on('error', refuse);
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
    end: () => unlessFailed((done) => parser.on('finish', done).end()),
  };
}

/** Undoes what browsers do to names in the headers of parts. */
function decodeName(name: string): string {
  return name.replace(/%(?:0A|0D|22)/g, decodeURIComponent);
}

async function toForm(parts: readonly Part[]): Promise<FormData> {
  const form = new FormData();
  for (const { name, text = '', file } of parts) form.append(name, file ? await toFile(file) : text);
  return form;
}

/** Reads a file on disk when it is used. */
async function toFile({ name, type, pieces, path }: Stored): Promise<File> {
  const content = path === undefined ? pieces : [await openAsBlob(path)];
  return new File(content as BlobPart[], name, { type });
}
