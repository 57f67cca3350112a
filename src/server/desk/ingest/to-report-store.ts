import type { ReportStore } from '../../reports/report-store.ts';
import type { Desk } from '../desk.ts';

/** Lets reports of browsers use the desk. */
export function toReportStore(desk: Pick<Desk, 'ask' | 'journal'>): ReportStore {
  return {
    journal: (failure, sameVisitor) => desk.journal(failure, sameVisitor),
    isEchoAwaited: (address) => desk.ask('isEchoAwaited', address),
    isKnownDigest: (digest) => desk.ask('isKnown', digest),
    listBuilds: () => desk.ask('listBuilds'),
  };
}
