import { readFileSync } from 'node:fs';
import { LOCATION_LENGTH } from '../src/shared/location-format.mjs';

// Lists the locations in the source whose failures would get a different digest than in an earlier build:
//
//   node bench/lost-digests.mjs <an earlier dist/sites.json> [dist/sites.json]
//
// Each line is a location that no longer exists under its first names. If the code was moved or renamed, add it to
// moves.json. If it was removed, nothing is lost. Exits with 1 if there are any.

const [earlier, present = 'dist/sites.json'] = process.argv.slice(2);
if (!earlier)
  throw new Error('The sites.json of an earlier build is missing. Usage: node bench/lost-digests.mjs old/sites.json');

/** @returns {Set<string>} the inputs of digests */
function listPlaces(file) {
  const { strings, sites, firstNames = {} } = JSON.parse(readFileSync(file, 'utf8'));
  const places = new Set();
  for (let number = 0; number < sites.length / LOCATION_LENGTH; number++) {
    const [path, name, detail] = sites
      .slice(number * LOCATION_LENGTH, number * LOCATION_LENGTH + 3)
      .map((index) => strings[index]);
    const first = firstNames[number] ?? { path, function: name, detail };
    places.add([first.path, first.function, first.detail].join('#').replace(/#+$/, ''));
  }
  return places;
}

const places = listPlaces(present);
const lost = [...listPlaces(earlier)].filter((place) => !places.has(place));
for (const place of lost) console.log(place);
console.log(`${lost.length} earlier locations are missing. There are ${places.size} now.`);
process.exitCode = lost.length > 0 ? 1 : 0;
