#if Emulator
import AsyncBluetooth
import BluetoothBackend
import BluetoothEmulator
import CoreBluetoothClasses

/// A server of a device of a world file: it stores written values, returns stored values and notifies by its timers.
@MainActor
final class WorldFileServer {
    private let role: PeripheralRole
    private let description: PeripheralDescription
    private let printer: ServerEventPrinter
    private(set) var publishedCount = 0
    /// Whether the bytes of a channel are echoed, by its number.
    private var echoes: [CBL2CAPPSM: Bool] = [:]
    private var channels: Task<Void, Never>?

    init(_ description: PeripheralDescription, role: PeripheralRole) {
        self.role = role
        self.description = description
        printer = ServerEventPrinter(console: role.console, name: description.name)
    }

    /// Publishes the services, listens for channels, then advertises.
    func start() async throws {
        role.onEvent = { [printer] in printer.request($0) }
        for (index, service) in description.services.enumerated() {
            try await role.publish(served(service, at: index))
            publishedCount += 1
        }
        printer.published(description.services.map { CBUUID($0.uuid) })
        let opened = role.server.channels
        channels = Task { [weak self] in
            await withDiscardingTaskGroup { group in
                for await channel in opened { group.addTask { [weak self] in await self?.serve(channel) } }
            }
        }
        for channel in description.channels {
            let psm = try await role.publishChannel(isEncryptionRequired: channel.isEncryptionRequired)
            echoes[psm] = channel.echo
            printer.listening(psm)
        }
        guard let advertised else {
            return role.console.warn(
                "\(PrintableText.of(description.name)) does not advertise: the file has no enabled advertising set")
        }
        try await role.advertise(advertised)
        printer.advertising(advertised)
    }

    func stop() { channels?.cancel() }

    /// The content of the enabled advertising set; nil if no set is enabled.
    private var advertised: AdvertisedContent? {
        description.advertising.first(where: \.isEnabled).map { set in
            let data = set.data.serviceData.merging(set.scanResponse?.serviceData ?? [:]) { own, _ in own }
            return AdvertisedContent(
                name: set.data.localName ?? set.scanResponse?.localName,
                services: (set.data.services + (set.scanResponse?.services ?? [])).map { CBUUID($0) },
                manufacturerData: set.data.manufacturerData ?? set.scanResponse?.manufacturerData,
                serviceData: Dictionary(data.map { (CBUUID($0.key), $0.value) }) { $1 })
        }
    }

    // MARK: Services

    private func served(_ service: ServiceDescription, at index: Int) -> ServedService {
        let uuids = description.services.map { CBUUID($0.uuid) }
        let id = ServiceID(uuids[index], instance: Self.instance(at: index, in: uuids))
        let own = service.characteristics.map { CBUUID($0.uuid) }
        let characteristics = service.characteristics.enumerated().map { index, characteristic in
            let path = CharacteristicID(own[index], instance: Self.instance(at: index, in: own), in: id)
            return StoredValue(characteristic).served(as: path, by: role.server)
        }
        return ServedService(
            uuids[index], isPrimary: service.isPrimary,
            // In a valid file, each names an earlier service.
            includes: service.includes.map { ServiceID(CBUUID($0.uuid), instance: $0.index + 1) },
            characteristics: characteristics)
    }

    /// Returns the position among those with the same UUID, from 1.
    private static func instance(at index: Int, in uuids: [CBUUID]) -> Int {
        uuids[...index].filter { $0 == uuids[index] }.count
    }

    // MARK: Channels

    /// Counts the received bytes, and echoes them if the file requires it.
    private func serve(_ channel: ByteChannel) async {
        printer.channel("channel open", channel)
        var count = 0
        do {
            // No more bytes are read before the echo was sent, so the central waits and the buffer stays small.
            while let data = try await channel.read(upTo: 16_384) {
                count += data.count
                if echoes[channel.psm] == true { try await channel.write(data) }
            }
        } catch {
            // The link or the command has ended, and the channel with it.
        }
        channel.close()
        if !Task.isCancelled { printer.channel("channel end", channel, bytes: count) }
    }
}

private actor StoredValue {
    private let description: CharacteristicDescription
    private var value: Data
    private var position = 0

    init(_ description: CharacteristicDescription) {
        self.description = description
        value = description.value
    }

    /// Returns the characteristic whose requests this value answers.
    nonisolated func served(as path: CharacteristicID, by server: PeripheralServer) -> ServedCharacteristic {
        let echo: @Sendable (WriteRequest) async throws -> Void = { [description, weak server] request in
            let value = try await self.write(request)
            if description.echo { server?.send(value, of: path, to: [request.central]) }
        }
        let notify: @Sendable (SubscribedCharacteristic) async throws -> Void = { [weak server] characteristic in
            try await self.notify(characteristic, by: server)
        }
        return ServedCharacteristic(
            path.uuid, CBCharacteristicProperties(rawValue: UInt(description.properties.rawValue)),
            permissions: CBAttributePermissions(rawValue: UInt(description.effectivePermissions.rawValue)),
            descriptors: Dictionary(description.descriptors.map { (CBUUID($0.uuid), $0.value) }) { $1 },
            onRead: { _ in await self.value }, onWrite: echo, whileSubscribed: notify)
    }

    private func notify(_ characteristic: SubscribedCharacteristic, by server: PeripheralServer?) async throws {
        guard let timer = description.timer, let server else { return }
        while true {
            try await characteristic.sleep(for: timer.interval)
            if !timer.values.isEmpty { value = timer.values[position % timer.values.count] }
            position += 1
            // A link that is slower than the timer skips values.
            let length = server.subscribers(of: characteristic.id).map(\.maximumUpdateLength).min() ?? 0
            try await server.notify(value.prefix(length), of: characteristic.id)
        }
    }

    /// Replaces the bytes from the offset on.
    private func write(_ request: WriteRequest) throws -> Data {
        guard request.offset <= value.count else { throw CBATTError(.invalidOffset) }
        let new = value.prefix(request.offset) + request.value
        guard new.count <= description.maximumLength else { throw CBATTError(.invalidAttributeValueLength) }
        value = Data(new)
        return value
    }
}

extension PeripheralDescription {
    /// Whether a central must encrypt the link, and therefore pair, for a served value.
    var needsEncryption: Bool {
        let characteristics = services.flatMap(\.characteristics)
        return channels.contains(where: \.isEncryptionRequired)
            || characteristics.contains { characteristic in
                !characteristic.effectivePermissions.isDisjoint(with: [
                    .readEncryptionRequired, .writeEncryptionRequired,
                ])
                    || !characteristic.properties.isDisjoint(
                        with: [.notifyEncryptionRequired, .indicateEncryptionRequired])
            }
    }
}

extension WorldFileServer {
    /// The device for a client of the same process.
    var visited: LoopbackClient.Device {
        let characteristics = description.services.flatMap(\.characteristics)
        return LoopbackClient.Device(
            name: advertised?.name, advertisedServices: advertised?.services ?? [],
            services: description.services.map { CBUUID($0.uuid) },
            periodic: Set(characteristics.filter { $0.timer != nil }.map { CBUUID($0.uuid) }), writesUnread: true)
    }
}
#endif
