import BluetoothBackend
import BluetoothValues
import Foundation

/// The attributes that a central across the emulated air knows, and the events that it reports.
///
/// Pure: it takes backend events and returns reports.
struct PeerCentralState: Sendable {
    private enum Request: Sendable {
        case services
        case characteristics
        case descriptors
        case descriptor(ContractAttribute)
        case read(ContractAttribute)
        case subscription(ContractAttribute)
        /// Another action; the event is its report.
        case action(ContractEvent)
    }

    private(set) var events: [ContractEvent] = []
    private(set) var isOn = false
    private(set) var peer: PeerID?
    private(set) var link: LinkID?
    private(set) var mtu = 0
    var heard: [PeerID: Advertisement] = [:]
    private(set) var services: [ServiceRecord] = []
    private var attributes: [ContractAttribute: AttributeID] = [:]
    private var names: [AttributeID: ContractAttribute] = [:]
    private var descriptors: [DescriptorRecord] = []
    private var descriptorValues: [ContractAttribute: Data] = [:]
    /// Whether changes of services wait for further ones, to be reported together.
    private let collectsServiceChanges: Bool
    private var serviceChanges:
        [(at: ContinuousClock.Instant, removed: [ContractAttribute], added: [ContractAttribute])] =
            []
    private var requests: [OperationID: Request] = [:]
    private var lastOperation = OperationID(rawValue: 0)
    private(set) var lastRequest: PairingRequestID?
    var channel = PeerChannel()

    init(collectsServiceChanges: Bool) { self.collectsServiceChanges = collectsServiceChanges }

    /// Whether a request of a discovery has no response yet.
    var isDiscovering: Bool {
        requests.values.contains { request in
            switch request {
            case .services, .characteristics, .descriptors, .descriptor: true
            case .read, .subscription, .action: false
            }
        }
    }

    mutating func report(_ event: ContractEvent) { events.append(event) }

    /// Reports the changes of services up to an instant as one, if none followed.
    mutating func reportServiceChanges(before instant: ContinuousClock.Instant) {
        guard let last = serviceChanges.last, last.at <= instant else { return }
        let (removed, added) = (serviceChanges.flatMap(\.removed), serviceChanges.flatMap(\.added))
        serviceChanges = []
        report(.servicesChanged(removed: removed, added: added))
    }

    private mutating func begin(_ request: Request) -> OperationID {
        lastOperation = lastOperation.next
        requests[lastOperation] = request
        return lastOperation
    }

    // MARK: Commands

    mutating func connect(_ peer: PeerID) -> CentralCommand {
        self.peer = peer
        lastOperation = lastOperation.next
        return .connect(peer: peer, operation: lastOperation, options: ConnectOptions())
    }

    mutating func discoverServices() -> CentralCommand? {
        link.map { .request(link: $0, operation: begin(.services), .discoverServices(nil)) }
    }

    mutating func discoverCharacteristics() -> [CentralCommand] {
        guard let link else { return [] }
        (attributes, names) = ([:], [:])
        return services.map { service in
            .request(link: link, operation: begin(.characteristics), .discoverCharacteristics(of: service.id, nil))
        }
    }

    mutating func discoverDescriptors(of name: ContractAttribute) -> CentralCommand? {
        guard let link, let attribute = attributes[name] else { return nil }
        (descriptors, descriptorValues) = ([], [:])
        return .request(link: link, operation: begin(.descriptors), .discoverDescriptors(of: attribute))
    }

    mutating func readDescriptors() -> [CentralCommand] {
        guard let link else { return [] }
        return descriptors.map {
            .request(link: link, operation: begin(.descriptor(ContractAttribute($0.uuid))), .read($0.id))
        }
    }

    /// Returns the command of an action on an attribute; nil without a link, or if the attribute does not exist.
    mutating func command(for action: CentralAction) -> CentralCommand? {
        guard let link else { return nil }
        switch action {
        case .read(let name):
            return attributes[name].map { .request(link: link, operation: begin(.read(name)), .read($0)) }
        case .write(let name, let value):
            return attributes[name].map {
                .request(link: link, operation: begin(.action(.wrote(name))), .write($0, value))
            }
        case .command(let name, let value):
            return attributes[name].map { .writeCommand(link: link, attribute: $0, value: value) }
        case .subscribe(let name, let isOn):
            return attributes[name].map {
                .request(link: link, operation: begin(.subscription(name)), .setNotifying($0, isOn))
            }
        case .openChannel(let psm):
            channel = PeerChannel()
            return .request(link: link, operation: begin(.action(.channelRefused)), .openChannel(psm: psm))
        default: return nil
        }
    }

    // MARK: Events

    mutating func handle(_ event: CentralEvent) {
        switch event {
        case .stateChanged(let state): isOn = state == .poweredOn
        case .discovered(let discovery): heard[discovery.peer, default: Advertisement()].merge(discovery.advertisement)
        case .connected(_, let link, _, let parameters): (self.link, mtu) = (link, parameters.mtu)
        case .connectFailed(_, _, let error): report(.connected.failing(Self.failure(error)))
        case .disconnected(_, let reason, _, _, _):
            link = nil
            requests = [:]
            if channel.id != nil { closeChannel() }
            report(.disconnected("\(reason)"))
        case .mtuChanged(_, let mtu): self.mtu = mtu
        case .servicesChanged(_, let removed, let added):
            let gone = services.filter { removed.contains($0.id) }.map { ContractAttribute($0.uuid) }
            let new = added.map { ContractAttribute($0.uuid) }
            if collectsServiceChanges {
                serviceChanges.append((.now, gone, new))
            } else {
                report(.servicesChanged(removed: gone, added: new))
            }
        case .valueNotified(_, let attribute, let value):
            report(.notified(names[attribute] ?? ContractAttribute("?"), value))
        case .channel(_, .received(let data)): channel.receive(data)
        case .channel(_, .credits(let count)): channel.credits += count
        case .channel(_, .closed): closeChannel()
        case .response(_, let operation, let response): complete(operation, with: response)
        default: break
        }
    }

    private mutating func closeChannel() {
        channel.id = nil
        report(.channelClosed)
    }

    private mutating func complete(_ operation: OperationID, with response: LinkResponse) {
        switch (requests.removeValue(forKey: operation), response) {
        case (_, .services(let found)): services = found
        case (_, .characteristics(let found)):
            for record in found where attributes[ContractAttribute(record.uuid)] == nil {
                attributes[ContractAttribute(record.uuid)] = record.id
                names[record.id] = ContractAttribute(record.uuid)
            }
        case (_, .descriptors(let found)): descriptors = found
        case (.descriptor(let name)?, .value(let value)): descriptorValues[name] = value
        case (.read(let name)?, .value(let value)): report(.read(name, value))
        case (.subscription(let name)?, .notifying(let isNotifying)): report(.subscribed(name, isNotifying))
        case (_, .channel(let id, let credits)):
            (channel.id, channel.credits) = (id, credits)
            report(.channelOpened)
        case (.read(let name)?, .failure(let error)): report(.read(name).failing(Self.failure(error)))
        case (.subscription(let name)?, .failure(let error)): report(.subscribed(name).failing(Self.failure(error)))
        case (.action(let event)?, .failure(let error)): report(event.failing(Self.failure(error)))
        case (.action(let event)?, _): report(event)
        default: report(.services([]).failing(.text("\(response)")))
        }
    }

    /// Returns the failure of a request; one that needed a pairing, which was refused, has one code for each of the servers.
    private static func failure(_ error: BackendError) -> ContractEvent.Failure {
        guard let code = error.attCode.map(ATTCode.init(rawValue:)) else { return .text(error.code.rawValue) }
        return .text("\((code == .insufficientEncryption ? .insufficientAuthentication : code).rawValue)")
    }

    mutating func reportDescriptors(of name: ContractAttribute) { report(.descriptors(name, descriptorValues)) }

    mutating func handle(_ event: PairingEvent) {
        switch event {
        case .requested(let request, _, let question):
            lastRequest = request
            report(.asks(ContractEvent.Question(question)))
        case .cancelled: report(.asksNoMore)
        case .paired: report(.paired)
        case .pairingFailed: report(.pairingFailed)
        case .unpaired: report(.unpaired)
        }
    }
}

extension ContractEvent.Question {
    fileprivate init(_ question: PairingQuestion) {
        self =
            switch question {
            case .consent: .consent
            case .confirm: .confirm
            case .enterPasskey: .enterPasskey
            case .display: .display
            case .outOfBand: .outOfBand
            }
    }
}

extension ContractAttribute {
    init(_ uuid: BluetoothUUID) { self.init(uuid.text) }
}
