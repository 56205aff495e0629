# To deploy `bluectl`: the tool with Swift linked in, on a small Debian with libdbus. It reaches the host's BlueZ over
# the host's system bus, which has to be mounted; no capability is needed.
#
#   docker build -f docker/bluectl.Dockerfile -t bluectl .
#   docker run --rm -v /run/dbus:/run/dbus:ro bluectl scan
#   docker run --rm bluectl demo
ARG SWIFT_IMAGE=swift:6.3-bookworm
ARG RUNTIME_IMAGE=debian:bookworm-slim

FROM ${SWIFT_IMAGE} AS build
WORKDIR /src
COPY Package.swift ./
COPY Modulemaps Modulemaps
COPY Packaging Packaging
COPY Schemas Schemas
COPY Sources Sources
COPY Tests Tests
RUN Packaging/no-curl /no-curl \
    && swift build -c release --static-swift-stdlib --product bluectl -Xlinker -L/no-curl \
    && strip "$(swift build -c release --static-swift-stdlib --show-bin-path)/bluectl" -o /bluectl

FROM ${RUNTIME_IMAGE}
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends libdbus-1-3 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /bluectl /usr/local/bin/bluectl
ENTRYPOINT ["bluectl"]
CMD ["--help"]
