import BluetoothBackend
import Foundation

/// What a central across the emulated air knows, and what it has to tell.
///
/// Pure: events go in, lines come out.
struct PeerCentralState: Sendable {
    private enum Question: Sendable {
        case services
        case characteristics
        case descriptors
        case descriptor(String)
        case read(String)
        case write(String)
        case subscription(String)
        case channel
    }

    private(set) var lines: [String] = []
    private(set) var isOn = false
    private(set) var peer: PeerID?
    private(set) var link: LinkID?
    private(set) var mtu = 0
    var heard: [PeerID: Advertisement] = [:]
    private(set) var services: [ServiceRecord] = []
    private var attributes: [String: AttributeID] = [:]
    private var names: [AttributeID: String] = [:]
    private var descriptors: [DescriptorRecord] = []
    private var descriptorValues: [String: Data] = [:]
    private var questions: [OperationID: Question] = [:]
    private var lastOperation = OperationID(rawValue: 0)
    private(set) var lastRequest: PairingRequestID?
    var channel = PeerChannel()

    /// Whether a question of a discovery is open.
    var isDiscovering: Bool {
        questions.values.contains { question in
            switch question {
            case .services, .characteristics, .descriptors, .descriptor: true
            default: false
            }
        }
    }

    mutating func tell(_ line: String) { lines.append(line) }

    private mutating func ask(_ question: Question) -> OperationID {
        lastOperation = lastOperation.next
        questions[lastOperation] = question
        return lastOperation
    }

    // MARK: Commands

    mutating func connect(_ peer: PeerID) -> CentralCommand {
        self.peer = peer
        lastOperation = lastOperation.next
        return .connect(peer: peer, operation: lastOperation, options: ConnectOptions())
    }

    mutating func discoverServices() -> CentralCommand? {
        link.map { .request(link: $0, operation: ask(.services), .discoverServices(nil)) }
    }

    mutating func discoverCharacteristics() -> [CentralCommand] {
        guard let link else { return [] }
        (attributes, names) = ([:], [:])
        return services.map { service in
            .request(link: link, operation: ask(.characteristics), .discoverCharacteristics(of: service.id, nil))
        }
    }

    mutating func discoverDescriptors(of uuid: String) -> CentralCommand? {
        guard let link, let attribute = attributes[uuid] else { return nil }
        (descriptors, descriptorValues) = ([], [:])
        return .request(link: link, operation: ask(.descriptors), .discoverDescriptors(of: attribute))
    }

    mutating func readDescriptors() -> [CentralCommand] {
        guard let link else { return [] }
        return descriptors.map {
            .request(link: link, operation: ask(.descriptor($0.uuid.short)), .read($0.id))
        }
    }

    mutating func tellDescriptors(of uuid: String) {
        let values = descriptorValues.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.hex)" }
        tell((["descriptors", uuid] + values).joined(separator: " "))
    }

    /// The command of an action on an attribute; nil without a link, or if there is no such attribute.
    mutating func command(for action: CentralAction) -> CentralCommand? {
        guard let link else { return nil }
        switch action {
        case .read(let uuid):
            return attributes[uuid].map { .request(link: link, operation: ask(.read(uuid)), .read($0)) }
        case .write(let uuid, let value):
            return attributes[uuid].map {
                .request(link: link, operation: ask(.write(uuid)), .write($0, value))
            }
        case .command(let uuid, let value):
            return attributes[uuid].map { .writeCommand(link: link, attribute: $0, value: value) }
        case .subscribe(let uuid, let isOn):
            return attributes[uuid].map {
                .request(link: link, operation: ask(.subscription(uuid)), .setNotifying($0, isOn))
            }
        case .openChannel(let psm):
            channel = PeerChannel()
            return .request(link: link, operation: ask(.channel), .openChannel(psm: psm))
        default: return nil
        }
    }

    // MARK: Events

    mutating func handle(_ event: CentralEvent) {
        switch event {
        case .stateChanged(let state): isOn = state == .poweredOn
        case .discovered(let discovery): heard[discovery.peer, default: Advertisement()].merge(discovery.advertisement)
        case .connected(_, let link, _, let parameters): (self.link, mtu) = (link, parameters.mtu)
        case .connectFailed(_, _, let error): tell("connecting failed\(Self.text(error))")
        case .disconnected(_, let reason, _, _):
            link = nil
            questions = [:]
            if channel.id != nil { closeChannel() }
            tell("disconnected \(reason)")
        case .mtuChanged(_, let mtu): self.mtu = mtu
        case .servicesChanged(_, let removed, let added):
            let gone = services.filter { removed.contains($0.id) }
            tell("services changed -\(gone.map(\.uuid.short)) +\(added.map(\.uuid.short))")
        case .valueNotified(_, let attribute, let value): tell("notified \(names[attribute] ?? "?") \(value.brief)")
        case .channel(_, .received(let data)): channel.receive(data)
        case .channel(_, .credits(let count)): channel.credits += count
        case .channel(_, .closed): closeChannel()
        default: answer(event)
        }
    }

    private mutating func closeChannel() {
        channel.id = nil
        tell("channel closed")
    }

    private mutating func answer(_ event: CentralEvent) {
        switch event {
        case .response(_, let operation, .services(let found)):
            questions[operation] = nil
            services = found
        case .response(_, let operation, .characteristics(let found)):
            questions[operation] = nil
            for record in found where attributes[record.uuid.short] == nil {
                attributes[record.uuid.short] = record.id
                names[record.id] = record.uuid.short
            }
        case .response(_, let operation, .descriptors(let found)):
            questions[operation] = nil
            descriptors = found
        case .response(_, let operation, .value(let value)):
            guard case .descriptor(let uuid)? = questions[operation] else { return close(operation, value.brief) }
            questions[operation] = nil
            descriptorValues[uuid] = value
        case .response(_, let operation, .written): close(operation)
        case .response(_, let operation, .notifying(let isNotifying)): close(operation, "\(isNotifying)")
        case .response(_, let operation, .channel(let id, let credits)):
            (channel.id, channel.credits) = (id, credits)
            close(operation, "open")
        case .response(_, let operation, .failure(let error)): close(operation, Self.text(error))
        default: break
        }
    }

    private mutating func close(_ operation: OperationID, _ text: String? = nil) {
        let words: String
        switch questions.removeValue(forKey: operation) {
        case .read(let uuid)?: words = "read \(uuid)"
        case .write(let uuid)?: words = "wrote \(uuid)"
        case .subscription(let uuid)?: words = "subscribed \(uuid)"
        case .channel?: words = "channel"
        case .services?, .characteristics?, .descriptors?, .descriptor?: words = "discovery"
        case nil: words = "unasked"
        }
        tell(text.map { "\(words) \($0)" } ?? words)
    }

    private static func text(_ error: BackendError) -> String {
        "! " + (error.attCode.map { "\($0)" } ?? error.code.rawValue)
    }

    mutating func handle(_ event: PairingEvent) {
        switch event {
        case .requested(let request, _, let question):
            lastRequest = request
            tell("asks \(question.name)")
        case .cancelled: tell("asks no more")
        case .paired: tell("paired")
        case .pairingFailed: tell("pairing failed")
        case .unpaired: tell("unpaired")
        }
    }
}

extension PairingQuestion {
    fileprivate var name: String {
        switch self {
        case .consent: "consent"
        case .confirm: "confirm"
        case .enterPasskey: "enterPasskey"
        case .display: "display"
        case .outOfBand: "outOfBand"
        }
    }
}

extension BluetoothUUID {
    /// The suite's own UUIDs without their common tail.
    var short: String { text.hasPrefix("C0DE") ? String(text.prefix(8)) : text }
}

extension Data {
    /// Its digits, or its length where it is long.
    var brief: String { count > 20 ? "\(count) bytes" : hex }
}
