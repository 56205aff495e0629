import BluetoothBackend
import BluetoothInstrumentation
import FoundationEssentials

/// A central role with faults on a test backend, with one open link.
struct FaultFixture {
    let base = TestBackend()
    let sink = TestSink<CentralEvent>()
    let backend: FaultInjectingBackend
    let central: any CentralBackend
    let link = Samples.link
    let attribute = Samples.attribute

    init(seed: UInt64 = 1, options: ConnectOptions = ConnectOptions(), _ faults: Fault...) throws {
        backend = try FaultInjectingBackend(around: base, plan: FaultPlan(seed: seed, faults: faults))
        central = backend.makeCentral(RoleOptions())
        central.activate(sink)
        base.central.role.deliver(.stateChanged(.poweredOn))
        central.submit(.connect(peer: Samples.peer, operation: Samples.operation, options: options))
        base.central.role.deliver(
            .connected(
                peer: Samples.peer, link: link, operation: Samples.operation,
                parameters: LinkParameters(mtu: 185, writeCredits: 4)),
            .response(link: link, operation: OperationID(rawValue: 8), .characteristics([Samples.characteristic])))
        _ = (submitted(), takeEvents())
    }

    func operation(_ number: UInt64) -> OperationID { OperationID(rawValue: number) }

    func read(_ number: UInt64, of attribute: AttributeID = Samples.attribute) -> CentralCommand {
        .request(link: link, operation: operation(number), .read(attribute))
    }

    func write(_ byte: UInt8) -> CentralCommand {
        .writeCommand(link: link, attribute: attribute, value: Data([byte]))
    }

    func value(_ number: UInt64, _ byte: UInt8 = 1) -> CentralEvent {
        .response(link: link, operation: operation(number), .value(Data([byte])))
    }

    func notification(_ byte: UInt8) -> CentralEvent {
        .valueNotified(link: link, attribute: attribute, value: Data([byte]))
    }

    func failure(_ number: UInt64) -> CentralEvent {
        .response(link: link, operation: operation(number), .failure(Samples.error))
    }

    func end(_ reason: DisconnectReason, isReconnecting: Bool = false) -> CentralEvent {
        .disconnected(link: link, reason: reason, at: Samples.date, isReconnecting: isReconnecting)
    }

    /// The commands that reached the backend since the last call.
    func submitted() -> [CentralCommand] { base.central.role.takeCommands() }

    /// The events that reached the manager since the last call.
    func takeEvents() -> [CentralEvent] { sink.takeEvents() }
}
