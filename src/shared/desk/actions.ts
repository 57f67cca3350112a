import { createActionUses } from '../engine/routing/actions.ts';
import type { IncidentActions } from './pages/incident/incident.tsx';
import type { IncidentsActions } from './pages/incidents/incidents.tsx';
import type { NotificationsActions } from './pages/notifications/notifications.tsx';
import type { RootActions } from './pages/root/root.tsx';

/** The actions of the desk's pages, by route id. */
export interface DeskActions {
  root: RootActions;
  incidents: IncidentsActions;
  incident: IncidentActions;
  notifications: NotificationsActions;
}

export const { Form, useActionOutcome, submitAs } = createActionUses<DeskActions>();
