import CoreBluetooth

/// An event that a scenario expects: a callback of the app's delegates, or a report of a central across the air.
///
/// Its description is the line in failures, in the documentation and from the contract's peer.
struct ContractEvent: Hashable, Sendable, CustomStringConvertible {
    /// The error of an event.
    enum Failure: Hashable, Sendable {
        case core(CBError.Code)
        case att(CBATTError.Code)
        /// The text from a central across the air.
        case text(String)
    }

    /// The kind of the event, and its attribute.
    let subject: String
    /// The values as text.
    private let values: String?
    /// Bytes that the line shortens to their number, if they are many.
    private let bytes: Data?
    private var failure: Failure?

    private init(_ subject: String, _ values: String? = nil, bytes: Data? = nil) {
        self.subject = subject
        self.values = values
        self.bytes = bytes
    }

    private init(_ subject: String, _ attributes: [ContractAttribute]) { self.init(subject, "\(attributes)") }

    private init(_ subject: String, bytes: Data?) { self.init(subject, bytes?.brief, bytes: bytes) }

    var isFailure: Bool { failure != nil }

    var description: String {
        ([subject, values, failure.map { "! \($0)" }] as [String?]).compactMap { $0 }.joined(separator: " ")
    }

    // MARK: Errors

    func failing(_ failure: Failure) -> Self {
        var event = self
        event.failure = failure
        return event
    }

    func failing(_ error: any Error) -> Self {
        switch error {
        case let error as CBError: failing(.core(error.code))
        case let error as CBATTError: failing(.att(error.code))
        default: failing(.text("\(error)"))
        }
    }

    func failing(_ code: CBError.Code) -> Self { failing(.core(code)) }
    func failing(att code: CBATTError.Code) -> Self { failing(.att(code)) }
    /// Returns the event with the code of the Error Response that a central across the air received.
    func failing(response code: CBATTError.Code) -> Self { failing(.text("\(code.rawValue)")) }
}

extension ContractEvent.Failure: CustomStringConvertible {
    var description: String {
        switch self {
        case .core(let code): "CBError \(code.rawValue)"
        case .att(let code): "CBATTError \(code.rawValue)"
        case .text(let text): text
        }
    }
}

extension CBATTError.Code {
    /// Returns the code of a number.
    static func number(_ number: UInt8) -> Self { Self(rawValue: Int(number)) ?? .unlikelyError }
}

// MARK: - The central role

extension ContractEvent {
    static func willRestore(_ states: [String: CBPeripheralState], scanning: [ContractAttribute]) -> Self {
        Self("willRestore", "\(states.map { "\($0.key) \($0.value)" }.sorted()) scanning \(scanning)")
    }
    static func didConnect(_ state: CBPeripheralState = .connected) -> Self { Self("didConnect", "\(state)") }
    static func didFailToConnect(_ state: CBPeripheralState = .disconnected) -> Self {
        Self("didFailToConnect", "\(state)")
    }
    static func didDisconnect(_ state: CBPeripheralState = .disconnected, isReconnecting: Bool = false) -> Self {
        Self("didDisconnect", "\(state)\(isReconnecting ? " reconnecting" : "")")
    }
    static func connectionEvent(_ event: CBConnectionEvent) -> Self {
        Self("connectionEvent", event == .peerConnected ? "connected" : "disconnected")
    }
    static func didModifyServices(_ services: [ContractAttribute]) -> Self { Self("didModifyServices", services) }
    static func didReadRSSI(isInRange: Bool) -> Self { Self("didReadRSSI", isInRange ? "dBm" : "out of range") }
    static func didDiscoverServices(_ services: [ContractAttribute] = []) -> Self {
        Self("didDiscoverServices", services)
    }
    static func didDiscoverIncludedServices(_ service: ContractAttribute, _ included: [ContractAttribute]) -> Self {
        Self("didDiscoverIncludedServices \(service)", included)
    }
    static func didDiscoverCharacteristics(_ service: ContractAttribute, _ all: [ContractAttribute] = []) -> Self {
        Self("didDiscoverCharacteristics \(service)", all)
    }
    static func didDiscoverDescriptors(_ characteristic: ContractAttribute, _ all: [ContractAttribute] = []) -> Self {
        Self("didDiscoverDescriptors \(characteristic)", all)
    }
    static func didUpdateValue(_ characteristic: ContractAttribute, _ value: Data? = nil) -> Self {
        Self("didUpdateValue \(characteristic)", value?.hex ?? "nil")
    }
    static func didWriteValue(_ characteristic: ContractAttribute) -> Self { Self("didWriteValue \(characteristic)") }
    static func didUpdateNotificationState(_ characteristic: ContractAttribute, _ isNotifying: Bool) -> Self {
        Self("didUpdateNotificationState \(characteristic)", "\(isNotifying)")
    }
    static func didUpdateDescriptor(_ descriptor: ContractAttribute, _ value: DescriptorValue?) -> Self {
        Self("didUpdateValue descriptor \(descriptor)", value?.description ?? "nil")
    }
    static func didWriteDescriptor(_ descriptor: ContractAttribute) -> Self {
        Self("didWriteValue descriptor \(descriptor)")
    }

    enum DescriptorValue: CustomStringConvertible {
        case text(String)
        case data(Data)
        case number(Int)

        var description: String {
            switch self {
            case .text(let text): "\"\(text)\""
            case .data(let data): data.hex
            case .number(let number): "number \(number)"
            }
        }
    }
}

// MARK: - The peripheral role

extension ContractEvent {
    static func willRestoreServices(_ services: [ContractAttribute], advertising name: String?) -> Self {
        Self("willRestore", "\(services) advertising \(name ?? "nil")")
    }
    static func didStartAdvertising(isAdvertising: Bool = true) -> Self {
        Self("didStartAdvertising", "\(isAdvertising)")
    }
    static func didAdd(_ service: ContractAttribute) -> Self { Self("didAdd \(service)") }
    static func didSubscribe(_ characteristic: ContractAttribute, subscribers: Int) -> Self {
        Self("didSubscribe \(characteristic)", "of \(subscribers)")
    }
    static func didUnsubscribe(_ characteristic: ContractAttribute, subscribers: Int) -> Self {
        Self("didUnsubscribe \(characteristic)", "of \(subscribers)")
    }
    static func didReceiveRead(_ characteristic: ContractAttribute, at offset: Int = 0, _ value: Data? = nil) -> Self {
        Self("didReceiveRead \(characteristic)", "@\(offset)\(value == nil ? "" : " with a value")")
    }
    static func didReceiveWrite(
        _ parts: [(characteristic: ContractAttribute, offset: Int, value: Data)]
    ) -> Self {
        Self(
            "didReceiveWrite",
            parts.map { "\($0.characteristic) @\($0.offset) \($0.value.brief)" }.joined(separator: " "),
            bytes: Data(parts.flatMap(\.value)))
    }
    /// A write, which arrives in prepared parts if it is longer than a part.
    static func didReceiveWrite(
        _ characteristic: ContractAttribute, _ value: Data = [], inPartsOf length: Int = 512
    )
        -> Self
    {
        let offsets = Array(stride(from: 0, to: max(1, value.count), by: length))
        return didReceiveWrite(offsets.map { (characteristic, $0, value.dropFirst($0).prefix(length)) })
    }
    static func didPublish(_ psm: CBL2CAPPSM = dynamicPSMs.lowerBound) -> Self { Self("didPublish", name(psm)) }
    static func didUnpublish(_ psm: CBL2CAPPSM = dynamicPSMs.lowerBound) -> Self { Self("didUnpublish", name(psm)) }

    /// The PSMs from which the system chooses.
    static let dynamicPSMs: ClosedRange<CBL2CAPPSM> = 0x80...0xFF
    private static func name(_ psm: CBL2CAPPSM) -> String { dynamicPSMs.contains(psm) ? "dynamic PSM" : "\(psm)" }
}

// MARK: - Channels and pairing

extension ContractEvent {
    enum OpenedChannel: String {
        case none = "nil"
        case toPeripheral = "channel"
        case toCentral = "channel of a central"
    }

    enum Question: String {
        case consent, confirm, enterPasskey, display, outOfBand
    }

    static func didOpen(_ channel: OpenedChannel) -> Self { Self("didOpen", channel.rawValue) }
    static func asks(_ question: Question) -> Self { Self("asks \(question)") }
    static let asksNoMore = Self("asks no more")
    static let paired = Self("paired")
    static let pairedWithoutBond = Self("paired without bond")
    static let pairingFailed = Self("pairing failed")
    static let unpaired = Self("unpaired")
}

// MARK: - Centrals across the air

extension ContractEvent {
    static let connected = Self("connected")
    static func disconnected(_ reason: String) -> Self { Self("disconnected \(reason)") }
    static func services(_ services: [ContractAttribute]) -> Self {
        Self("services", services.map(\.description).joined(separator: " "))
    }
    static func servicesChanged(removed: [ContractAttribute] = [], added: [ContractAttribute] = []) -> Self {
        Self("services changed", "-\(removed) +\(added)")
    }
    static func descriptors(_ characteristic: ContractAttribute, _ values: [ContractAttribute: Data]) -> Self {
        let texts = values.map { "\($0.key)=\($0.value.hex)" }.sorted()
        return Self("descriptors \(characteristic)", texts.joined(separator: " "))
    }
    static func read(_ characteristic: ContractAttribute, _ value: Data? = nil) -> Self {
        Self("read \(characteristic)", bytes: value)
    }
    static func wrote(_ characteristic: ContractAttribute) -> Self { Self("wrote \(characteristic)") }
    static func subscribed(_ characteristic: ContractAttribute, _ isOn: Bool? = nil) -> Self {
        Self("subscribed \(characteristic)", isOn.map { "\($0)" })
    }
    static func notified(_ characteristic: ContractAttribute, _ value: Data) -> Self {
        Self("notified \(characteristic)", bytes: value)
    }
    static let channelOpened = Self("channel open")
    static let channelRefused = Self("channel")
    static let channelClosed = Self("channel closed")
}

extension Data {
    /// The digits, or the length of a long value.
    var brief: String { count > 20 ? "\(count) bytes" : hex }
}
