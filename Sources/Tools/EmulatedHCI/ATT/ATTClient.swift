import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import BluetoothValues
import DequeModule

/// The client's side of the Attribute Protocol on a link whose server is a host outside of the emulator.
///
/// Operations of the emulated central go in, packets for the server come out; one request is outstanding at a time.
///
/// Source: Core Specification, Vol 3, Part F, 3.4, and Part G, 4.
struct ATTClient: Sendable {
    enum Operation: Sendable, Hashable {
        case discover
        case read(handle: UInt16)
        case write(handle: UInt16, [UInt8])
        case writeCommand(handle: UInt16, [UInt8])
    }

    enum Outcome: Sendable, Hashable {
        /// The services of the server, and the value of the Device Name if there is one.
        case discovered([TappedService], deviceName: [UInt8]?)
        case value([UInt8])
        case written
        case failed(ATTCode)
    }

    enum Action: Sendable, Hashable {
        /// Sends a packet to the server.
        case send(ATTPDU)
        case complete(Int, Outcome)
        case notified(handle: UInt16, [UInt8], isIndication: Bool)
        /// The server's services have changed.
        case servicesChanged
    }

    /// The maximum number of operations that wait; a further one fails.
    static let queueLength = 256

    private enum Step: Sendable {
        case mtu
        case discovery
        /// Subscribes to Service Changed.
        case serviceChanged
        case deviceName
        case read
        case write
        /// The next part of a long write begins at this offset.
        case prepare(next: Int)
        case execute
    }

    private(set) var mtu = ATTLimits.minimumMTU
    private let maximumMTU: Int
    private var waiting = Deque<(number: Int, operation: Operation)>()
    private var current: (number: Int, operation: Operation, step: Step)?
    private var discovery = ServerDiscovery()
    private var value: [UInt8] = []
    private var isMTUExchanged = false
    private var serviceChangedHandle: UInt16?

    init(maximumMTU: Int) { self.maximumMTU = maximumMTU }

    // MARK: Inputs

    /// Performs an operation after those before it.
    mutating func perform(_ operation: Operation, _ number: Int) -> [Action] {
        guard waiting.count < Self.queueLength else { return [.complete(number, .failed(.unlikelyError))] }
        waiting.append((number, operation))
        return current == nil ? startNext() : []
    }

    /// Handles a packet of the server.
    mutating func receive(_ pdu: ATTPDU) -> [Action] {
        switch pdu {
        case .notification(let handle, let value): return [.notified(handle: handle, value, isIndication: false)]
        case .multipleNotification(let values):
            return values.map { .notified(handle: $0.handle, $0.value, isIndication: false) }
        case .indication(let handle, let value):
            if handle == serviceChangedHandle { return [.send(.confirmation), .servicesChanged] }
            return [.notified(handle: handle, value, isIndication: true), .send(.confirmation)]
        default:
            guard let current else { return [] }
            return advance(current.step, pdu)
        }
    }

    /// Fails all operations when the link ends.
    mutating func end() -> [Action] {
        let numbers = (current.map { [$0.number] } ?? []) + waiting.map(\.number)
        (current, waiting) = (nil, [])
        return numbers.map { .complete($0, .failed(.unlikelyError)) }
    }

    // MARK: Operations

    private mutating func startNext() -> [Action] {
        guard let (number, operation) = waiting.popFirst() else { return [] }
        value = []
        switch operation {
        case .discover:
            discovery = ServerDiscovery()
            current = (number, operation, isMTUExchanged ? .discovery : .mtu)
            return isMTUExchanged ? continueDiscovery() : [.send(.mtuRequest(UInt16(maximumMTU)))]
        case .read(let handle):
            current = (number, operation, .read)
            return [.send(.readRequest(handle))]
        case .write(let handle, let bytes):
            guard bytes.count <= ATTLimits.longestValue else {
                return [.complete(number, .failed(.invalidAttributeValueLength))] + startNext()
            }
            guard bytes.count > ATTLimits.written(mtu: mtu) else {
                current = (number, operation, .write)
                return [.send(.writeRequest(handle, bytes))]
            }
            current = (number, operation, .prepare(next: 0))
            return prepare(handle, bytes, from: 0)
        case .writeCommand(let handle, let bytes):
            let part = Array(bytes.prefix(ATTLimits.written(mtu: mtu)))
            return [.send(.writeCommand(handle, part)), .complete(number, .written)] + startNext()
        }
    }

    private mutating func finish(_ outcome: Outcome) -> [Action] {
        guard let number = current.take()?.number else { return [] }
        return [.complete(number, outcome)] + startNext()
    }

    private mutating func prepare(_ handle: UInt16, _ bytes: [UInt8], from offset: Int) -> [Action] {
        guard offset < bytes.count else {
            current?.step = .execute
            return [.send(.executeWriteRequest)]
        }
        let part = Array(bytes[offset...].prefix(ATTLimits.prepared(mtu: mtu)))
        current?.step = .prepare(next: offset + part.count)
        return [.send(.prepareWriteRequest(handle, offset: UInt16(offset), part))]
    }

    private mutating func advance(_ step: Step, _ pdu: ATTPDU) -> [Action] {
        if case .error(_, _, let code) = pdu { return failed(step, ATTCode(rawValue: code)) }
        switch (step, pdu) {
        case (.mtu, .mtuResponse(let theirs)):
            isMTUExchanged = true
            mtu = max(ATTLimits.minimumMTU, min(Int(theirs), maximumMTU))
            current?.step = .discovery
            return continueDiscovery()
        case (.serviceChanged, .writeResponse): return readDeviceName()
        case (.deviceName, .readResponse(let name)):
            return finish(.discovered(discovery.services, deviceName: name))
        case (.read, .readResponse(let part)), (.read, .readBlobResponse(let part)): return received(part)
        case (.write, .writeResponse), (.execute, .executeWriteResponse): return finish(.written)
        case (.prepare(let next), .prepareWriteResponse):
            guard case .write(let handle, let bytes)? = current?.operation else { return [] }
            return prepare(handle, bytes, from: next)
        case (.discovery, _):
            // A response that brings nothing new would continue forever.
            if !discovery.add(pdu) { discovery.endStep() }
            return continueDiscovery()
        default: return []
        }
    }

    private static let attributeNotLong: ATTCode = 0x0B

    /// Handles a part of a value: after a full one, the client asks for more.
    private mutating func received(_ part: [UInt8]) -> [Action] {
        value += part
        guard part.count == ATTLimits.read(mtu: mtu), value.count < ATTLimits.longestValue,
            case .read(let handle)? = current?.operation
        else { return finish(.value(Array(value.prefix(ATTLimits.longestValue)))) }
        return [.send(.readBlobRequest(handle, offset: UInt16(value.count)))]
    }

    private mutating func failed(_ step: Step, _ code: ATTCode) -> [Action] {
        switch step {
        case .mtu:
            isMTUExchanged = true
            current?.step = .discovery
            return continueDiscovery()
        case .discovery:
            discovery.endStep()
            return continueDiscovery()
        case .serviceChanged: return readDeviceName()
        case .deviceName: return finish(.discovered(discovery.services, deviceName: nil))
        // The value ended with a full part.
        case .read where !value.isEmpty && code == Self.attributeNotLong: return finish(.value(value))
        case .prepare:
            // The server's queue is emptied; its answer concerns no operation.
            return [.send(.cancelWriteRequest)] + finish(.failed(code))
        case .read, .write, .execute: return finish(.failed(code))
        }
    }

    // MARK: Discovery

    /// Sends the next request of the discovery, or ends it.
    private mutating func continueDiscovery() -> [Action] {
        guard let request = discovery.nextRequest() else { return endDiscovery() }
        return [.send(request)]
    }

    private mutating func endDiscovery() -> [Action] {
        let changed = discovery.services.characteristic("2A05", in: "1801")
        serviceChangedHandle = changed?.valueHandle
        guard let configuration = changed?.descriptors.first(where: { $0.uuid == "2902" }) else {
            return readDeviceName()
        }
        current?.step = .serviceChanged
        return [.send(.writeRequest(configuration.handle, [0x02, 0x00]))]
    }

    private mutating func readDeviceName() -> [Action] {
        guard let name = discovery.services.characteristic("2A00", in: "1800") else {
            return finish(.discovered(discovery.services, deviceName: nil))
        }
        current?.step = .deviceName
        return [.send(.readRequest(name.valueHandle))]
    }
}

extension [TappedService] {
    fileprivate func characteristic(_ uuid: BluetoothUUID, in service: BluetoothUUID) -> TappedCharacteristic? {
        lazy.filter { $0.uuid == service }.flatMap(\.characteristics).first { $0.uuid == uuid }
    }
}
