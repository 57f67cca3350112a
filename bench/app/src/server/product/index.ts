import { defineProduct, HttpError, implement } from '#engine/server';
import { stations } from '../../shared/product/api.ts';
import { readStation } from './data.ts';
import { pages } from './pages.ts';
import { settings } from './settings.ts';

export const product = defineProduct({
  settings,
  pages,
  api: () => [
    implement(stations, {
      getStation({ params: { id } }) {
        const body = readStation(id);
        if (!body) throw new HttpError(404);
        return { status: 200, body };
      },
    }),
  ],
});
