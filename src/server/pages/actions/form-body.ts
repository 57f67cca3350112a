import type { Request as ExpressRequest, Response as ExpressResponse } from 'express';
import { publicError } from '../../../shared/routing/control-flow.ts';
import { MAX_ACTION_BYTES } from '../../../shared/shared-limits.ts';
import { KiB } from '../../../shared/units.ts';
import { ACTION_FIELD, MULTIPART } from '../../../shared/wire/protocol.ts';
import { bodies } from '../../request/body-reader.ts';
import { decodeFormText, groupFields, isInUtf8, readContentType } from '../../request/parse-body.ts';
import { type MultipartRequest, type ReceivedForm, readMultipart, URL_ENCODED } from '../../request/read-multipart.ts';

interface FormRequest extends Pick<MultipartRequest, 'limit' | 'admit'> {
  readonly request: ExpressRequest;
  readonly response: ExpressResponse;
}

/**
 * Reads a posted form. If a step of the product has parsed the body already, its fields are used. (The parsers of
 * Express 4 set an empty body when they read nothing, which does not count.)
 *
 * @throws ControlFlowResponse 415 for another type or an encoded body
 * @throws HttpError 400 if it cannot be read, 413 for too many fields, and the errors of `bodies.read()`
 */
export async function readForm({ request, response, limit, admit }: FormRequest): Promise<ReceivedForm> {
  if (isFields(request.body) && request.readableDidRead) return withoutFiles(fromFields(request.body));
  const type = readContentType(request);
  if (!type || !isFormType(type.essence)) publicError(415, `Send forms as ${URL_ENCODED} or ${MULTIPART}.`);
  if (!isInUtf8(type)) publicError(415, 'Send the form in UTF-8.');
  const encoding = request.headers['content-encoding'];
  if (encoding && encoding.toLowerCase() !== 'identity') publicError(415, 'Send the form without a Content-Encoding.');

  if (type.essence === MULTIPART) {
    const boundary = type.params.get('boundary') ?? '';
    return readMultipart({ req: request, res: response, boundary, limit, admit });
  }
  const most = Math.min(limit, MAX_ACTION_BYTES); // of text
  return bodies.read({ req: request, res: response, limit: most }, (body) => withoutFiles(fromText(body), body.length));
}

function withoutFiles(form: FormData, bytes = 0): ReceivedForm {
  return { form, bytes, remove: async () => undefined };
}

/** Whether the body has a type that browsers use for forms. */
export function isForm(request: ExpressRequest): boolean {
  return isFormType(readContentType(request)?.essence);
}

export function isMultipart(request: ExpressRequest): boolean {
  return readContentType(request)?.essence === MULTIPART;
}

function isFormType(essence: string | undefined): boolean {
  return essence === URL_ENCODED || essence === MULTIPART;
}

function fromText(body: Buffer): FormData {
  const form = new FormData();
  for (const [name, value] of new URLSearchParams(decodeFormText(body))) form.append(name, value);
  return form;
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

/** More is not shown again (UTF-16 code units): the response can be twelve times as long. */
const MAX_TYPED = 128 * KiB;

/** Returns what was typed, to be shown again, without files and fields whose name looks secret. */
export function toTypedValues(form: FormData): Record<string, string | string[]> {
  const values: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>;
  let left = MAX_TYPED;
  for (const [name, all] of groupFields(form)) {
    if (name === ACTION_FIELD || SECRET_NAME.test(name)) continue;
    const texts = all.filter((value): value is string => typeof value === 'string');
    const [first] = texts;
    const length = texts.reduce((sum, text) => sum + text.length, 0);
    if (first === undefined || length > left) continue;
    left -= length;
    values[name] = texts.length === 1 ? first : texts;
  }
  return values;
}
