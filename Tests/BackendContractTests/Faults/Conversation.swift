import CoreBluetooth
import Testing

/// What an app says to the contract's peer, from the first scan to the end of the link, in steps at which a fault can be
/// put.
final class Conversation {
    private enum Step: CaseIterable {
        case scan, hear, connect, connected, discoverServices, servicesDiscovered, discoverCharacteristics,
            characteristicsDiscovered, discoverDescriptors, descriptorsDiscovered, read, valueRead, write, written,
            subscribe, subscribed, notified, command, unsubscribe, disconnect, end
    }

    /// After how many steps there is something left to say.
    static var points: Range<Int> { 1..<Step.allCases.count }

    private let context: ContractContext
    private let value: Data
    private var peripheral: CBPeripheral?
    private var service: CBService?

    /// - Parameter value: What is written.
    init(_ context: ContractContext, writing value: Data) {
        self.context = context
        self.value = value
    }

    /// Goes through the first steps, or all.
    func go(through count: Int = Step.allCases.count) async throws {
        for step in Step.allCases.prefix(count) {
            if !(try await beginning(step)) { try await using(step) }
        }
    }

    private func known() throws -> CBPeripheral { try #require(peripheral) }

    private func characteristic(_ uuid: String) throws -> CBCharacteristic {
        try #require(service).characteristic(uuid)
    }

    /// The steps to the attributes; false for the others.
    private func beginning(_ step: Step) async throws -> Bool {
        switch step {
        case .scan:
            context.trace.clearSightings()
            context.manager.scanForPeripherals(withServices: nil)
        case .hear: peripheral = try await context.find()
        case .connect: context.manager.connect(try known())
        case .connected: try await context.expect("didConnect connected")
        case .discoverServices: try known().discoverServices([CBUUID(contract: "C0DE0001")])
        case .servicesDiscovered:
            try await context.skip("didDiscoverServices")
            service = try known().services?.first { $0.uuid == CBUUID(contract: "C0DE0001") }
        case .discoverCharacteristics: try known().discoverCharacteristics(nil, for: try #require(service))
        case .characteristicsDiscovered: try await context.skip("didDiscoverCharacteristics")
        case .discoverDescriptors: try known().discoverDescriptors(for: try characteristic("C0DE010C"))
        case .descriptorsDiscovered: try await context.skip("didDiscoverDescriptors")
        default: return false
        }
        return true
    }

    private func using(_ step: Step) async throws {
        switch step {
        case .read: try known().readValue(for: try characteristic("C0DE010A"))
        case .valueRead: try await context.expect("didUpdateValue C0DE010A 0A")
        case .write: try known().writeValue(value, for: try characteristic("C0DE0101"), type: .withResponse)
        case .written:
            try await context.expect("didWriteValue C0DE0101")
            #expect(try await context.perform(.value("C0DE0101")).value == value, "what was acknowledged is there")
        case .subscribe: try known().setNotifyValue(true, for: try characteristic("C0DE0103"))
        case .subscribed: try await context.expect("didUpdateNotificationState C0DE0103 true")
        case .notified:
            for byte in UInt8(1)...3 {
                try await context.perform(.notify("C0DE0103", Data([byte])))
                try await context.expect("didUpdateValue C0DE0103 0\(byte)")
            }
        case .command: try known().writeValue(value, for: try characteristic("C0DE0102"), type: .withoutResponse)
        case .unsubscribe: try known().setNotifyValue(false, for: try characteristic("C0DE0103"))
        case .disconnect:
            try await context.expect("didUpdateNotificationState C0DE0103 false")
            context.manager.cancelPeripheralConnection(try known())
        case .end: try await context.expect("didDisconnect disconnected")
        default: break
        }
    }
}
