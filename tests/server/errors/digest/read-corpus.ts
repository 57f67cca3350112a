import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultStackParser } from '@sentry/react';
import { createLocations } from '../../../../build/locations.mjs';
import { type LocationTable, parseLocationTable } from '../../../../src/server/errors/digest/location-table.ts';
import { parseStack } from '../../../../src/server/errors/digest/read-error.ts';
import type { ErrorRecord } from '../../../../src/server/errors/failure.ts';
import { readEventErrors } from '../../../../src/server/reports/event-errors.ts';
import type { ReportSender } from '../../../../src/server/reports/report-parts.ts';
import { noScrubber } from '../../../support/unguarded.ts';
import { toNextRelease } from './corpus/release.mjs';

const root = fileURLToPath(new URL('corpus', import.meta.url));

interface CollectedError {
  readonly class: string;
  readonly message: string;
  readonly stack: string;
  readonly code?: string;
  readonly members?: readonly string[];
}

interface CollectedMap {
  readonly path: string;
  readonly sources: readonly string[];
  readonly mappings: string;
}

type Collected = readonly [engine: string, kind: string, release: number, bug: string, times: CollectedError[][]];

/** A bug as one engine reported it, in one build and with one value. */
export interface Sighting {
  readonly bug: string;
  readonly engine: string;
  readonly kind: string;
  readonly release: number;
  readonly errors: readonly ErrorRecord[];
  readonly table: LocationTable;
}

const ORIGIN = 'https://shop.example';
const sender: ReportSender = {
  origin: ORIGIN,
  isOurs: (origin) => origin === ORIGIN,
  userAgent: undefined,
  credentials: [],
  visitor: { address: '', id: undefined },
  scrubber: noScrubber,
};

/** Reads everything that was collected, with the tables of locations that the build makes from its maps. */
export function readCorpus(): Sighting[] {
  const tables = readTables();
  return read<Collected[]>('stacks.json').flatMap(([engine, kind, release, bug, times]) => {
    const table = tables.get(`${kind} ${release}`);
    if (!table) throw new Error(`The corpus has no maps of ${kind} ${release}.`);
    return times.map((errors) => ({
      bug,
      engine,
      kind,
      release,
      errors: errors.map((error) => toRecord(error, engine)),
      table,
    }));
  });
}

function readTables(): Map<string, LocationTable> {
  const all = Object.entries(read<Record<string, CollectedMap[]>>('maps.json'));
  return new Map(
    all.map(([name, maps]) => {
      const sources = readSources(name.endsWith(' 1') ? (_path, text) => text : toNextRelease);
      const whole = maps.map(({ path, ...map }) => {
        const sourcesContent = map.sources.map((source) => sources.get(source.replace(/^(?:\.\.\/)+/, '')));
        return { path, contents: JSON.stringify({ ...map, sourcesContent }) };
      });
      return [name, parseLocationTable(createLocations(root, whole))];
    }),
  );
}

/** Returns the sources of a release by their path from the root. */
function readSources(toRelease: (path: string, text: string) => string): Map<string, string> {
  return new Map(
    globSync('{src,packages}/**/*.{js,ts}', { cwd: root }).map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return [path.replaceAll('\\', '/'), path.startsWith('src') ? toRelease(path, text) : text];
    }),
  );
}

function toRecord({ class: name, message, stack, code, members }: CollectedError, engine: string): ErrorRecord {
  const frames =
    engine === 'node' ? parseStack(stack, { dist: '/app/dist' }, message) : reportFrames(name, message, stack);
  return {
    class: name,
    message,
    ...(code !== undefined && { code }),
    ...(members && { members: [...new Set(members)].sort() }),
    frames,
  };
}

/** Returns the frames of an error that a browser reports with Sentry's SDK. */
function reportFrames(type: string, value: string, stack: string): ErrorRecord['frames'] {
  const stacktrace = { frames: defaultStackParser(stack) };
  const { errors } = readEventErrors({ exception: { values: [{ type, value, stacktrace }] } }, sender);
  return errors[0]?.frames ?? [];
}

function read<Content>(name: string): Content {
  return JSON.parse(readFileSync(join(root, 'collected', name), 'utf8')) as Content;
}
