import type { ComponentType, ReactNode } from 'react';

/** The language of a page. */
export interface Language {
  /** As in `<html lang>`. */
  readonly lang: string;
  /** The direction of its script. Default: left to right. */
  readonly dir?: 'ltr' | 'rtl';
  /** Spillway's own sentences in this language. Those that are missing stay in English. */
  readonly texts?: Readonly<Partial<Record<EngineText, string>>>;
}

/** Every sentence of Spillway that visitors can see in a page, but for errors in numbers. Braces are filled in. */
export type EngineText =
  | 'Something went wrong on our side'
  | 'Our server failed. If you tell us the digest, we can find out what went wrong.'
  | 'Try again'
  | 'Go to the start page'
  | 'One moment, please'
  | 'The site has too many visitors at the moment. This page reloads in a few seconds.'
  | 'The site has too many visitors at the moment, so your form was not processed. Go back, where your input is still there, and send it again in a few seconds.'
  | 'The request is malformed. Check it and send it again.'
  | 'This address is not valid.'
  | 'There is nothing at this address. Check it.'
  | 'This URL does not accept that method. The Allow header lists the methods that it accepts.'
  | 'The request did not arrive in time. Send it again.'
  | 'This has changed in the meantime. Reload it.'
  | 'This request comes from another site, so it was not carried out.'
  | 'The request is too large.'
  | 'The form has more than 1000 fields.'
  | 'The URL is too long.'
  | 'This content type is not supported.'
  | 'The Expect header is not supported.'
  | 'This server does not answer for that host.'
  | 'The request is not valid.'
  | 'Too many requests. Wait a moment and try again.'
  | 'Too much is being sent at the moment. Try again in a moment.'
  | 'The request headers are too large.'
  | 'The server is busy. Try again in a moment.'
  | 'The form was not accepted.'
  | 'This could not be found.'
  | 'You do not have access to this.'
  | 'Sign in to see this.'
  | 'This could not be loaded.'
  | 'Digest:'
  | 'The page could not be loaded. Check your connection, then try again.'
  | 'What you typed is still here.'
  | 'The form was not sent. Check your connection, then send it again.'
  | 'The form was not sent. Check your connection and the size of your files, then send it again.'
  | 'Something went wrong on our side (digest {digest}).'
  | 'The server is busy at the moment, so your form was not processed. Send it again in a few seconds.'
  | 'This is more than the site accepts. Choose smaller files, or shorten the text.'
  | 'This is more than {size}. Choose smaller files, or shorten the text.'
  | 'This page does not accept the form.'
  | 'This form is from another version of the site, so it was not processed. Reload the page, then send it again. What you typed is kept, except passwords and files.'
  | 'This form is from another version of the site, so it was not processed. Copy what you typed, then open the page again.';

/** Props of the product's document (`<html>`, `<head>`, `<body>`). Outside the router, it cannot fail with a page. */
export interface DocumentProps {
  /** Of the path that is shown: see `DocumentComponent`. */
  readonly lang: string;
  readonly dir?: 'ltr' | 'rtl' | undefined;
  /** The engine's elements for `<head>`. Render them last. */
  readonly head: ReactNode;
  readonly children: ReactNode;
}

/**
 * The product's document. `Document.language = (path) => …` says which language a path has, for the document itself, error
 * pages and navigation. Default: English.
 */
export type DocumentComponent = ComponentType<DocumentProps> & { language?: (path: string) => Language };

export const ENGLISH: Language = { lang: 'en' };

/** @param path of the page that is shown, without the query */
export function languageOf(document: DocumentComponent, path: string): Language {
  return document.language?.(path) ?? ENGLISH;
}

/** Returns a sentence in a language. One that is not Spillway's stays as it is. */
export function say({ texts }: Language, text: string, filled: Readonly<Record<string, string>> = {}): string {
  return (texts?.[text as EngineText] ?? text).replace(/\{(\w+)\}/g, (braces, name: string) => filled[name] ?? braces);
}
