import { MIMEType } from 'node:util';
import type { Request as ExpressRequest, Response as ExpressResponse } from 'express';
import { publicError } from '../../../shared/routing/control-flow.ts';
import { ACTION_FIELD } from '../../../shared/wire/protocol.ts';
import { bodies } from '../../request/body-reader.ts';
import { decodeFormText, isInUtf8, readContentType } from '../../request/parse-body.ts';

const FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';

/** More fields than a person fills in (count). */
const MAX_FIELDS = 1000;

interface FormRequest {
  readonly request: ExpressRequest;
  readonly response: ExpressResponse;
  /** Bytes. */
  readonly limit: number;
}

/**
 * Reads a posted form. If a step of the product has parsed the body already, its fields are used. (The parsers of
 * Express 4 set an empty body when they read nothing, which does not count.)
 *
 * @throws ControlFlowResponse 413 for too many fields, 415 for another type or an encoded body, 400 if it cannot be
 * read
 * @throws HttpError 400 if it is not UTF-8, and the errors of `BodyReader`
 */
export async function readForm({ request, response, limit }: FormRequest): Promise<FormData> {
  if (isFields(request.body) && request.readableDidRead) return fromFields(request.body);
  const type = readContentType(request);
  if (!type || !isFormType(type.essence)) publicError(415, `Send forms as ${FORM} or ${MULTIPART}.`);
  if (!isInUtf8(type)) publicError(415, 'Send the form in UTF-8.');
  const encoding = request.headers['content-encoding'];
  if (encoding && encoding.toLowerCase() !== 'identity') publicError(415, 'Send the form without a Content-Encoding.');

  return bodies.read({ req: request, res: response, limit }, async (body) => {
    const form = type.essence === FORM ? fromText(body) : await fromMultipart(body, type.params.get('boundary') ?? '');
    if ([...form.keys()].length > MAX_FIELDS) refuseFields();
    return form;
  });
}

function refuseFields(): never {
  publicError(413, `The form has more than ${MAX_FIELDS} fields.`);
}

/** Whether the body has a type that browsers use for forms. */
export function isForm(request: ExpressRequest): boolean {
  return isFormType(readContentType(request)?.essence);
}

function isFormType(essence: string | undefined): boolean {
  return essence === FORM || essence === MULTIPART;
}

function fromText(body: Buffer): FormData {
  requireFewParts(body, '&');
  const text = decodeFormText(body);
  const form = new FormData();
  for (const [name, value] of new URLSearchParams(text)) form.append(name, value);
  return form;
}

async function fromMultipart(body: Buffer, boundary: string): Promise<FormData> {
  requireFewParts(body, `\n--${boundary}`);
  const type = new MIMEType(MULTIPART);
  type.params.set('boundary', boundary);
  try {
    return await new Response(new Uint8Array(body), { headers: { 'content-type': String(type) } }).formData();
  } catch {
    return publicError(400, 'The form is malformed: its parts are not valid multipart/form-data (RFC 7578).');
  }
}

/** Checked before parsing, because half a million fields fit into a form and take seconds. */
function requireFewParts(body: Buffer, separator: string): void {
  let count = 1;
  for (let at = body.indexOf(separator); at >= 0; at = body.indexOf(separator, at + 1)) {
    count += 1;
    if (count > MAX_FIELDS + 1) refuseFields(); // nothing may follow the last separator
  }
}

function isFields(body: unknown): body is Record<string, unknown> {
  return typeof body === 'object' && body !== null && !Buffer.isBuffer(body);
}

function fromFields(fields: Record<string, unknown>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) appendField(form, name, value);
  return form;
}

/** Nested fields get their original names: `address[city]`. */
function appendField(form: FormData, name: string, value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value) appendField(form, name, item);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) appendField(form, `${name}[${key}]`, inner);
  } else {
    form.append(name, String(value));
  }
}

const SECRET_NAME = /passw|passcode|passphrase|pwd|(?:^|[^a-z])pin(?![a-z])|secret|token|otp|cvc|cvv|card.?number/i;

/** Returns what was typed, to be shown again, without files and fields whose name looks secret. */
export function toTypedValues(form: FormData): Record<string, string | string[]> {
  const values: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>;
  for (const name of new Set(form.keys())) {
    if (name === ACTION_FIELD || SECRET_NAME.test(name)) continue;
    const texts = form.getAll(name).filter((value): value is string => typeof value === 'string');
    const [first] = texts;
    if (first !== undefined) values[name] = texts.length === 1 ? first : texts;
  }
  return values;
}
