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

interface FilePart {
  readonly name: string;
  readonly fileName: string;
  readonly type: string;
  /** What is in memory of it. */
  pieces: Buffer[];
  /** What else there is of it, on disk. */
  path?: string;
}

type Part = FilePart | { readonly name: string; readonly text: string };

const MALFORMED = 'The form is malformed: its parts are not valid multipart/form-data (RFC 7578).';

/** RFC 2046, section 5.1.1. None of the characters has a meaning in `Content-Type`. */
const BOUNDARY = /^[\w'()+,./:=? -]{1,70}$/;

/**
 * Reads a multipart form. Large ones go to temporary files while they arrive, and their `File`s read these when they are
 * used. They are not removed by themselves.
 *
 * @throws HttpError 400 if it is malformed, 413 for too many parts, and the errors of `BodyReader`
 */
export async function readMultipart(request: MultipartRequest): Promise<ReceivedForm> {
  const { req, res, boundary, limit, admit } = request;
  if (!BOUNDARY.test(boundary)) throw badRequest(MALFORMED);
  const parts: Part[] = [];
  const { write, end } = parseParts(boundary, parts);
  const isLarge = Number(req.headers['content-length']) > MAX_FORM_MEMORY;
  let folder: string | undefined;
  let most = limit;
  let bytes = 0;
  let inMemory = 0;
  let taking: Promise<void> | undefined;

  async function take(piece: Buffer, body: HeldBody): Promise<void> {
    bytes += piece.length;
    inMemory += piece.length;
    body.hold(piece.length);
    await write(piece);
    if (inMemory > (isLarge ? FORM_PIECE : MAX_FORM_MEMORY)) await moveToDisk(body);
    if (inMemory > MAX_FORM_MEMORY) throw new BodyTooLarge(MAX_FORM_MEMORY); // of text
    if (bytes > most) throw new BodyTooLarge(most);
  }

  async function moveToDisk(body: HeldBody): Promise<void> {
    for (const [index, part] of parts.entries()) {
      if (!isFile(part) || part.pieces.length === 0) continue;
      folder ??= await openFolder();
      await requireSpace(folder);
      part.path ??= join(folder, String(index));
      const pieces = part.pieces.splice(0);
      const moved = toLength(pieces);
      body.hold(moved, 'disk');
      await writeFile(part.path, pieces, { flag: 'a', mode: 0o600 });
      body.hold(-moved);
      inMemory -= moved;
    }
  }

  async function openFolder(): Promise<string> {
    most = (await admit?.(toForm(parts.filter((part) => !isFile(part))))) ?? limit;
    if (Number(req.headers['content-length']) > most) throw new BodyTooLarge(most);
    return createUploadFolder();
  }

  async function removeFiles(): Promise<void> {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }

  let body: HeldBody | undefined;
  async function remove(): Promise<void> {
    await removeFiles();
    body?.release();
  }

  try {
    body = await bodies.receive({ req, res, limit }, (piece, held) => {
      taking = take(piece, held);
      return taking;
    });
    await end();
    if (folder !== undefined) await moveToDisk(body);
    return { form: await openFiles(parts), bytes, remove };
  } catch (error) {
    await taking?.catch(() => undefined); // it can still be writing
    await remove();
    throw error;
  }
}

/** Parses the parts of a form into `parts`, in their order. */
function parseParts(boundary: string, parts: Part[]) {
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  const refuse = () => failed.reject(badRequest(MALFORMED));
  const parser = new Busboy({
    headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
    isPartAFile: (_name, _type, fileName) => fileName !== undefined,
    limits: { parts: MAX_FORM_FIELDS, fieldSize: MAX_FORM_MEMORY },
  });
  parser
    .on('field', (name, text) => {
      if (name === undefined) refuse();
      else parts.push({ name: decodeName(name), text });
    })
    .on('file', (name, stream, fileName = '', _encoding, type) => {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece)).on('error', refuse);
      if (name === undefined) refuse();
      else parts.push({ name: decodeName(name), fileName: decodeName(fileName), type, pieces });
    })
    .on('partsLimit', () => failed.reject(new HttpError(413, `The form has more than ${MAX_FORM_FIELDS} fields.`)))
    .on('error', refuse);
  return {
    /** Resolves when the parser can take more. */
    write: (piece: Buffer): Promise<void> =>
      Promise.race([new Promise<void>((resolve) => parser.write(piece, () => resolve())), failed.promise]),
    /** Resolves when all parts are there. */
    end: (): Promise<void> =>
      Promise.race([new Promise<void>((resolve) => parser.on('finish', () => resolve()).end()), failed.promise]),
  };
}

/** Undoes what browsers do to names in the headers of parts. */
function decodeName(name: string): string {
  return name.replace(/%(?:0A|0D|22)/g, decodeURIComponent);
}

async function openFiles(parts: readonly Part[]): Promise<FormData> {
  const opened = parts.map(async (part) => {
    if (!isFile(part)) return part;
    const { name, fileName, type, path, pieces } = part;
    const content = path === undefined ? pieces : [await openAsBlob(path)];
    return { name, file: new File(content as BlobPart[], fileName, { type }) };
  });
  return toForm(await Promise.all(opened));
}

function toForm(parts: readonly { readonly name: string; readonly text?: string; readonly file?: File }[]): FormData {
  const form = new FormData();
  for (const { name, text = '', file } of parts) form.append(name, file ?? text);
  return form;
}

function isFile(part: Part): part is FilePart {
  return 'pieces' in part;
}

function toLength(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}
