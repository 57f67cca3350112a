/** Returns the names in a table of settings. */
export function listSettings(source) {
  return [...source.matchAll(/^ {2,4}([A-Z][A-Z0-9_]*): \{$/gm)].map(([, name]) => name);
}

/** Removes settings from the text of `.env.example`, each with the comment above and the empty line below. */
export function withoutSettings(text, names) {
  return names
    .reduce((rest, name) => rest.replace(new RegExp(`^# [^\\n]*\\n# ${name}=[^\\n]*\\n\\n?`, 'm'), ''), text)
    .replace(/\n+$/, '\n');
}
