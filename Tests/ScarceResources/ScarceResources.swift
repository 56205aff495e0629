#if os(Linux)
import BlueZ
import BluetoothBackend
import BluetoothSupport
import FailingCalls
import Foundation
import Synchronization

/// A program that runs out of descriptors or threads while it uses BlueZ, and has some again later.
///
/// `ScarceResources BUS CALL SKIPPED`: after SKIPPED calls, one call of the C function CALL fails.
///
/// `ScarceResources BUS descriptors COUNT`: COUNT descriptors are free until the adapter is reported as unsupported.
///
/// It prints the states that a central manager receives, publishes a service with a notifying characteristic once the
/// adapter is on, prints `published`, and continues until its input ends; then it prints the number of failed calls. A
/// service that the daemon refuses is printed with the reason first.
@main struct ScarceResources {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let number = Int(arguments[3]) else { fatalError("usage: BUS CALL NUMBER") }
        let states = States()
        if arguments[2] == "descriptors" {
            states.exhaust(leaving: number)
        } else {
            failing_calls_set(strdup(arguments[2]), CInt(number), 1)
        }
        let backend = BlueZBackend(BlueZConfiguration(busAddress: arguments[1]))
        let central = backend.makeCentral(RoleOptions())
        central.activate(states)
        states.waitForPower()
        let server = Server()
        let peripheral = backend.makePeripheral(RoleOptions())
        peripheral.activate(server)
        server.publish(with: peripheral)
        print("published")
        while readLine() != nil {}
        print("failed: \(failing_calls_count())")
        peripheral.invalidate()
        central.invalidate()
    }
}

/// A sink that prints the states of the adapter, and frees descriptors when the adapter is unsupported.
private final class States: EventSink {
    let label = "states"
    private let hoard = Lock<[CInt]>([])
    private let power = DispatchSemaphore(value: 0)

    /// Takes all descriptors except a number of them.
    func exhaust(leaving count: Int) {
        var limit = rlimit(rlim_cur: 128, rlim_max: 128)
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { fatalError("setrlimit") }
        hoard.withLock { hoard in
            while true {
                let descriptor = dup(0)
                guard descriptor >= 0 else { break }
                hoard.append(descriptor)
            }
            for _ in 0..<count { if let last = hoard.popLast() { close(last) } }
        }
    }

    func waitForPower() { power.wait() }

    func deliver(_ event: CentralEvent) {
        guard case .stateChanged(let state) = event else { return }
        print(state)
        if state == .poweredOn { power.signal() } else { giveBack() }
    }

    private func giveBack() {
        for descriptor in hoard.withLock({ exchange(&$0, with: []) }) { close(descriptor) }
    }

    func afterDelivery(_ body: @escaping @Sendable () -> Void) { body() }
}

/// A role that publishes one service.
private final class Server: EventSink {
    let label = "server"
    private let power = DispatchSemaphore(value: 0)
    private let added = DispatchSemaphore(value: 0)

    func publish(with peripheral: any PeripheralBackend) {
        power.wait()
        let characteristic = ServiceDefinition.Characteristic(
            id: AttributeID(rawValue: 2), uuid: BluetoothUUID(0x2A37), properties: .notify, permissions: [])
        peripheral.submit(
            .addService(
                operation: OperationID(rawValue: 1),
                service: ServiceDefinition(
                    id: AttributeID(rawValue: 1), uuid: BluetoothUUID(0x180D), isPrimary: true,
                    characteristics: [characteristic])))
        added.wait()
    }

    func deliver(_ event: PeripheralEvent) {
        switch event {
        case .stateChanged(.poweredOn): power.signal()
        case .serviceAdded: added.signal()
        case .operationFailed(_, let error):
            print("not published: \(error)")
            added.signal()
        default: break
        }
    }

    func afterDelivery(_ body: @escaping @Sendable () -> Void) { body() }
}
#else
@main struct ScarceResources {
    static func main() { fatalError("BlueZ is on Linux alone") }
}
#endif
