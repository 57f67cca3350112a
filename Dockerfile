# docker build -t spillway .
#
# The image holds the build, Node with the libraries that it is linked to, and the few packages that
# are loaded when it runs: no shell, no npm, no compiler. docs/operating.md says how to run it.

FROM node:26-trixie-slim AS build
# Node is linked to it.
RUN apt-get update && apt-get install --yes --no-install-recommends libatomic1
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
# The name of the release. Without it the commit that is checked out names it.
ARG RELEASE=""
RUN npm run build
# "pinned" is the Node of package-lock.json; "image" that of the line FROM above, for the day on which a
# fix is there first.
ARG NODE=pinned
RUN if [ "$NODE" = pinned ]; then npm run image -- /image; else node bin/image.mjs /image; fi
RUN mkdir /empty

FROM scratch
WORKDIR /app
COPY --from=build /image/ /
COPY --from=build /app/package.json /app/LICENSE ./
COPY --from=build /app/dist/ dist/
# The one place that is written to. A volume that is new takes its owner from here.
COPY --from=build --chown=10001:10001 /empty/ /data/
VOLUME /data
ENV PATH=/usr/local/bin NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
# SQLite looks for a folder for its temporary files, and would not find any other that it may write to.
ENV SQLITE_TMPDIR=/data
EXPOSE 3000
USER 10001:10001
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "--max-old-space-size=16", "dist/server/health-check.js"]
# Node's own limit for the heap is past the end of a small container. The rest of the memory is for the
# desk worker, buffers and the code.
ENTRYPOINT ["node", "--max-old-space-size-percentage=60", "--disable-warning=ExperimentalWarning"]
CMD ["dist/server/main.js"]
