import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import BluetoothValues
import Dispatch
import Logging

/// The device that a host outside of the emulator is to the centrals of the world, with the advertising sets of one address.
///
/// The world serves discoveries from the attributes that the host serves, which are discovered on its first link; reads,
/// writes and subscriptions are requests to the host.
// Invariant: all variables are used on the link layer's queue only.
final class ExternalDevice: @unchecked Sendable {
    private struct AdvertisingSet {
        /// The number of the set in the world.
        let index: Int
        var settings: LinkLayerCommand.AdvertisingSettings
        var timer: (any BackendTimer)?
        var isOn = true
    }

    private weak var layer: EmulatedLinkLayer?
    private let queue: DispatchQueue
    private let address: HCIAddress
    let name: String
    /// The sets by their numbers of the host.
    private var sets: [UInt8: AdvertisingSet] = [:]
    private var device: EmulatedDevice?
    private var links: [UInt32: ExternalPeripheralLink] = [:]
    /// The links whose end is reported, but which the world has not closed yet.
    private var forgotten: Set<UInt32> = []
    private var services: [TappedService]?
    private var attributes: [UInt16: AttributeID] = [:]

    /// The number of the device in the world; nil if it could not be added.
    var number: UInt32? { device?.number }

    init(_ layer: EmulatedLinkLayer, _ address: HCIAddress, named name: String) {
        (self.layer, queue) = (layer, layer.queue)
        (self.address, self.name) = (address, name)
        let description = PeripheralDescription(
            name: name, address: DeviceAddress(bits: address.bits),
            // The host pairs by its own Security Manager.
            pairing: PairingDescription(answer: .reject))
        do {
            device = try layer.emulator.add(EmulatedPeripheral(description, handler: Handler(self, queue)))
        } catch {
            EmulatedLinkLayer.logger.line(.warning, "\(name) cannot advertise: \(error)")
        }
    }

    // MARK: Advertising

    /// Whether the device has no set and no link.
    var isUnused: Bool { sets.isEmpty && links.isEmpty }

    func advertise(_ number: UInt8, _ settings: LinkLayerCommand.AdvertisingSettings) {
        sets[number]?.timer?.cancel()
        let index = sets[number]?.index ?? freeIndex
        let timer = settings.duration.flatMap { duration in
            layer?.after(duration) { [weak self] in
                self?.stopAdvertising(number)
                self?.layer?.emit(.advertisingEnded(set: number))
            }
        }
        sets[number] = AdvertisingSet(index: index, settings: settings, timer: timer)
        do {
            try device?.setAdvertising(AdvertisingDescription(settings), set: index)
            device?.setAdvertising(true, set: index)
        } catch {
            EmulatedLinkLayer.logger.line(.warning, "\(name) cannot advertise: \(error)")
        }
    }

    private var freeIndex: Int {
        let taken = Set(sets.values.map(\.index))
        return (0...sets.count).first { !taken.contains($0) } ?? sets.count
    }

    func stopAdvertising(_ number: UInt8) {
        guard let set = sets[number] else { return }
        set.timer?.cancel()
        sets[number]?.isOn = false
        device?.setAdvertising(false, set: set.index)
    }

    /// Removes a set, whose host advertises it with another address now.
    func removeAdvertising(_ number: UInt8) {
        stopAdvertising(number)
        sets[number] = nil
    }

    /// The connectable sets that are on the air, with the lowest number first.
    private var connectableSets: [(number: UInt8, settings: LinkLayerCommand.AdvertisingSettings)] {
        sets.filter { $0.value.isOn && $0.value.settings.isConnectable }
            .sorted { $0.key < $1.key }.map { ($0.key, $0.value.settings) }
    }

    func remove() {
        for set in sets.values { set.timer?.cancel() }
        for link in links.values { link.end() }
        links = [:]
        device?.remove()
        device = nil
    }

    // MARK: Links

    func link(_ handle: UInt16) -> ExternalPeripheralLink? { links.values.first { $0.handle == handle } }

    func link(number: UInt32) -> ExternalPeripheralLink? { links[number] }

    /// Handles the links of a central, whose requests follow.
    ///
    /// A tap reports the same links, before the packets on them; the two are not in order.
    fileprivate func opened(by central: CentralIdentity) {
        for connection in device?.connections ?? [] where connection.central.address == central.address {
            opened(connection)
        }
    }

    func opened(_ connection: TappedConnection) {
        guard let layer, links[connection.link] == nil, !forgotten.contains(connection.link) else { return }
        // As in a controller, a connectable set ends with the connection that it leads to.
        let set = connectableSets.first?.number
        if let set { stopAdvertising(set) }
        let link = ExternalPeripheralLink(layer.nextHandle(), connection, address: address, of: self, in: layer)
        links[connection.link] = link
        layer.emit(
            .connected(
                HCIConnection(
                    handle: link.handle, isCentral: false, peer: HCIAddress(connection.central.address),
                    privateAddress: nil, localPrivateAddress: nil,
                    parameters: HCIConnectionParameters(connection.parameters)), set: set))
        link.begin()
    }

    func closed(_ number: UInt32, _ reason: DisconnectReason) {
        forgotten.remove(number)
        guard let link = links.removeValue(forKey: number) else { return }
        layer?.emit(.disconnected(handle: link.handle, reason: reason.status.rawValue))
        link.end()
    }

    /// Forgets a link whose end is reported already.
    func forget(_ link: ExternalPeripheralLink) {
        guard links.removeValue(forKey: link.number) != nil else { return }
        forgotten.insert(link.number)
        link.end()
    }

    /// Serves the services that a discovery found.
    ///
    /// - Parameter isChange: Whether the host announced a change, so that the centrals are told.
    func serve(_ found: [TappedService], deviceName: [UInt8]?, isChange: Bool) {
        guard let device else { return }
        if found != services {
            device.replaceServices(found, isIndicated: isChange)
            services = found
            attributes = device.attributesByHandle
        }
        if let deviceName { device.setValue(Data(deviceName), of: CharacteristicPath("2A00", service: "1800")) }
    }

    func attribute(_ handle: UInt16) -> AttributeID? { attributes[handle] }

    func notify(_ value: [UInt8], handle: UInt16, on number: UInt32) {
        guard let attribute = attributes[handle] else { return }
        layer?.emulator.control(link: number, .notify(attribute, Data(value)))
    }

    func update(_ parameters: HCIConnectionParameters, on number: UInt32) {
        layer?.emulator.control(link: number, .setParameters(ConnectionParameters(parameters)))
    }

    func submit(_ command: ChannelCommand, on channel: ChannelID) {
        layer?.peripheral?.role.role.submit(.channel(channel, command))
    }

    /// The link with a channel.
    func link(of channel: ChannelID) -> ExternalPeripheralLink? {
        links.values.first { $0.channels.contains(channel) }
    }

    // MARK: Requests of the world

    fileprivate func link(of central: CentralIdentity) -> ExternalPeripheralLink? {
        links.values.first { $0.central == central.address && !$0.isEnded }
    }

    fileprivate func accepts(_ central: CentralIdentity) -> Bool {
        let address = HCIAddress(central.address)
        return connectableSets.contains { _, settings in
            (settings.peer ?? address) == address && settings.acceptedCentrals?.contains(address) != false
        }
    }

    fileprivate func perform(
        _ procedure: PeripheralProcedure, _ answer: @escaping @Sendable (ProcedureResponse) -> Void
    ) {
        guard let link = link(of: procedure.central) else { return answer(.error(.unlikelyError)) }
        switch procedure.kind {
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors:
            link.whenDiscovered { answer(.granted) }
        case .subscribe, .unsubscribe:
            guard let attribute = procedure.attribute, let (handle, bits) = configuration(of: attribute) else {
                return answer(.error(.attributeNotFound))
            }
            let value: [UInt8] = procedure.kind == .subscribe ? [bits, 0] : [0, 0]
            link.perform(.write(handle: handle, value)) { outcome in
                if case .failed(let code) = outcome { answer(.error(code)) } else { answer(.granted) }
            }
        }
    }

    /// The handle of a characteristic's Client Characteristic Configuration, and the bit that subscribes.
    private func configuration(of attribute: AttributeID) -> (handle: UInt16, bit: UInt8)? {
        guard let value = device?.handle(of: attribute),
            let characteristic = services?.lazy.flatMap(\.characteristics).first(where: { $0.valueHandle == value }),
            let handle = characteristic.descriptors.first(where: { $0.uuid == "2902" })?.handle
        else { return nil }
        return (handle, characteristic.properties.contains(.notify) ? 1 : 2)
    }

    fileprivate func perform(
        _ request: PeripheralRequest, _ answer: @escaping @Sendable (PeripheralResponse) -> Void
    ) {
        guard let link = link(of: request.central), let handle = device?.handle(of: request.attribute) else {
            return answer(.error(.unlikelyError))
        }
        let operation: ATTClient.Operation =
            switch request.kind {
            case .read: .read(handle: handle)
            case .write(let value): .write(handle: handle, Array(value))
            case .writeCommand(let value): .writeCommand(handle: handle, Array(value))
            }
        link.perform(operation) { outcome in
            switch outcome {
            case .value(let value): answer(.value(Data(value)))
            case .failed(let code): answer(.error(code))
            case .written, .discovered: answer(.accepted)
            }
        }
    }

    fileprivate func open(_ request: ChannelRequest, _ answer: @escaping @Sendable (ChannelResponse) -> Void) {
        guard let link = link(of: request.central), let role = layer?.peripheral?.role else {
            return answer(.refused(.noResources))
        }
        link.open(request) { answer($0 == .success ? .accepted(by: role) : .refused($0.refusal)) }
    }

    /// Asks the device on the queue of its link layer.
    private final class Handler: ExternalPeripheralHandler, @unchecked Sendable {
        // Invariant: the device is constant after `init`.
        private weak var device: ExternalDevice?
        private let queue: DispatchQueue

        init(_ device: ExternalDevice, _ queue: DispatchQueue) { (self.device, self.queue) = (device, queue) }

        func respond(to request: ConnectionRequest) async -> ConnectionResponse {
            await ask { device, answer in
                answer(device?.accepts(request.central) == true ? .accepted : .refused)
            }
        }

        func respond(to procedure: PeripheralProcedure) async -> ProcedureResponse {
            await ask { device, answer in
                guard let device else { return answer(.error(.unlikelyError)) }
                device.perform(procedure, answer)
            }
        }

        func respond(to request: PeripheralRequest) async -> PeripheralResponse {
            await ask { device, answer in
                guard let device else { return answer(.error(.unlikelyError)) }
                device.perform(request, answer)
            }
        }

        func respond(to request: ChannelRequest) async -> ChannelResponse {
            await ask { device, answer in
                guard let device else { return answer(.refused(.noResources)) }
                device.open(request, answer)
            }
        }

        func handle(_ event: DeviceEvent) async {
            guard case .connected(let central) = event else { return }
            await ask { device, answer in
                device?.opened(by: central)
                answer(())
            }
        }

        private func ask<Response: Sendable>(
            _ body: @escaping @Sendable (ExternalDevice?, @escaping @Sendable (Response) -> Void) -> Void
        ) async -> Response {
            await withCheckedContinuation { continuation in
                queue.async { body(self.device) { continuation.resume(returning: $0) } }
            }
        }
    }
}

extension AdvertisingDescription {
    /// A set whose host decides whether it continues while a central is connected.
    fileprivate init(_ settings: LinkLayerCommand.AdvertisingSettings) {
        var data = AdvertisingData(Advertisement(structures: settings.data))
        data.encoded = settings.data
        var response: AdvertisingData?
        if settings.isScannable, !settings.scanResponse.isEmpty, !(settings.isExtended && settings.isConnectable) {
            response = AdvertisingData(Advertisement(structures: settings.scanResponse))
            response?.encoded = settings.scanResponse
        }
        self.init(
            data, scanResponse: response,
            interval: min(.milliseconds(10_240), max(.milliseconds(20), settings.interval)),
            isConnectable: settings.isConnectable, continuesWhileConnected: true, isExtended: settings.isExtended)
    }
}
