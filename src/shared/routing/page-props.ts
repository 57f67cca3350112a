import type { ParamsIn } from './href.ts';

/** What a server file tells the types of its page. */
interface PageTypes {
  /** What its loader returns. */
  readonly data: unknown;
  readonly params: unknown;
  /** The parsed search. */
  readonly search: unknown;
  /** What its actions return if they accept the form, by name. */
  readonly results: unknown;
}

/** A server file made by `definePage()`. The member exists for the compiler only. */
export interface TypedHalf<Types extends PageTypes = PageTypes> {
  readonly '~types'?: Types;
}

/** A part of what a page knows: from its server file, `typeof order`, or from an interface of its data. */
export type PartOf<Half, Part extends keyof PageTypes> = '~types' extends keyof Half
  ? Half extends TypedHalf<infer Types>
    ? Types[Part]
    : never
  : { data: Half; params: ParamsIn<undefined>; search: undefined; results: unknown }[Part];

/**
 * Props of a page or layout: `function Order({ data }: PageProps<typeof order>)`, with a type-only import of the server
 * file. A page can also declare its data itself: `PageProps<OrderData>`.
 */
export type PageProps<Half> = '~types' extends keyof Half
  ? { readonly [Part in 'data' | 'params' | 'search']: PartOf<Half, Part> }
  : { readonly data: Half };
