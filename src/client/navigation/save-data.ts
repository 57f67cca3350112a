interface DataSaver {
  readonly connection?: { readonly saveData?: boolean };
}

/** True if the visitor has asked to save data (https://wicg.github.io/savedata/). */
export function hasSaveData(): boolean {
  return (navigator as unknown as DataSaver).connection?.saveData ?? false;
}
