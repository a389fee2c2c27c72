# docker build -t accounts-api .
#
# Build arguments replace the base images, to pin a digest or to use a mirror:
#   docker build --build-arg RUNTIME_IMAGE=debian@sha256:… .
# Others become labels of the image. A label without a value is unknown:
#   docker build --build-arg VERSION=0.1.0 --build-arg REVISION=$(git rev-parse HEAD) --build-arg SOURCE=https://… .
ARG SWIFT_IMAGE=swift:6.3.1-bookworm
ARG RUNTIME_IMAGE=debian:bookworm-slim

FROM ${SWIFT_IMAGE} AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        jq libargon2-dev libcrypt-dev libcurl4-openssl-dev libidn2-dev libphonenumber-dev libpng-dev libpq-dev \
        libqrencode-dev libre2-dev libturbojpeg0-dev libwebp-dev pkg-config zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /build
# The dependencies have their own layer, so that a change in Sources does not fetch them again. They have the versions of
# Package.resolved, if there is one beside Package.swift.
COPY Package.* ./
RUN swift package resolve
COPY sql sql
COPY Sources Sources
COPY Tests Tests
# The commit for `--version`: docker build --build-arg COMMIT=$(git rev-parse --short=12 HEAD) .
ARG COMMIT=
ARG REVISION=
# The executable contains Swift's libraries, so the image needs only C libraries.
# By default the compiler stores a hash of its intermediate code in each file, which differs from build to build. The id of
# a build would contain what is stripped later; here it is the commit, as in scripts/release, or there is none.
RUN swift build --configuration release --product accounts-api --static-swift-stdlib \
    -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen \
    -Xlinker "--build-id=${REVISION:+0x}${REVISION:-none}"
COPY LICENSE scripts/image-root ./
RUN ./image-root swift /image

# Debian's libargon2 is a generic build and hashes at less than half the speed. The image also has builds for each
# microarchitecture level of x86-64, and the dynamic loader picks one.
FROM ${RUNTIME_IMAGE} AS argon2
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev python3-pip \
    && rm -rf /var/lib/apt/lists/*
COPY scripts/argon2 scripts/
RUN scripts/argon2 /argon2

# This stage installs the packages and collects the files that the executable needs. The final image has no package
# manager.
FROM ${RUNTIME_IMAGE} AS runtime
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        ca-certificates jq libargon2-1 libcrypt1 libcurl4 libidn2-0 libphonenumber8 libpng16-16 libpq5 libqrencode4 libre2-9 \
        libturbojpeg0 libwebp7 tzdata zlib1g \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /image /image
COPY --from=argon2 /argon2 /argon2
COPY scripts/image-root ./
RUN ./image-root debian /image /argon2

FROM scratch
COPY --from=runtime /image /
ARG VERSION=
ARG REVISION=
ARG SOURCE=
LABEL org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="$VERSION" \
    org.opencontainers.image.revision="$REVISION" \
    org.opencontainers.image.source="$SOURCE"
# The user is a number, so that an orchestrator can verify that it is not root. The service writes no files, so
# --read-only works.
USER 65532:65532
# Metrics have their own port, which need not be reachable from the network of the clients.
ENV LISTEN=0.0.0.0:8080 METRICS_LISTEN=0.0.0.0:9090
EXPOSE 8080 9090
# The server is process 1, without a shell: it drains on SIGTERM, and the same executable runs the health check.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD ["/usr/local/bin/accounts-api", "healthcheck", "--live"]
ENTRYPOINT ["/usr/local/bin/accounts-api"]
CMD ["serve"]
