# To show an emulated world to the programs of other containers: a message bus and `bluectl world serve`. Containers that
# mount the same volume as /run/dbus find the devices where they look for Bluetooth, without settings of their own.
#
#   docker build -f docker/world.Dockerfile -t bluetooth-world .
#   docker run --rm -v world:/run/dbus bluetooth-world
#   docker run --rm -v world:/run/dbus -v "$PWD/devices.yaml:/devices.yaml:ro" bluetooth-world /devices.yaml
#   docker run --rm -v world:/run/dbus:ro debian-with-bluez bluetoothctl list
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
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends dbus-daemon libdbus-1-3 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /bluectl /usr/local/bin/bluectl
COPY docker/world-bus.conf /etc/bluetooth-world/bus.conf
COPY --chmod=755 docker/serve-world /usr/local/bin/serve-world
VOLUME /run/dbus
ENTRYPOINT ["serve-world"]
