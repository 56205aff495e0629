import CoreBluetooth
import Testing

/// An app's use of the contract's peer, from the first scan to the end of the link, in steps between which a fault can
/// occur.
final class Conversation {
    private enum Step: CaseIterable {
        case scan, hear, connect, connected, discoverServices, servicesDiscovered, discoverCharacteristics,
            characteristicsDiscovered, discoverDescriptors, descriptorsDiscovered, read, valueRead, write, written,
            subscribe, subscribed, notified, command, unsubscribe, disconnect, end
    }

    /// The numbers of steps after which further steps follow.
    static var points: Range<Int> { 1..<Step.allCases.count }

    private let context: ContractContext
    private let value: Data
    private var peripheral: CBPeripheral?
    private var service: CBService?

    /// - Parameter value: The value to write.
    init(_ context: ContractContext, writing value: Data) {
        self.context = context
        self.value = value
    }

    /// Performs the first steps, or all.
    func go(through count: Int = Step.allCases.count) async throws {
        for step in Step.allCases.prefix(count) {
            if !(try await beginning(step)) { try await using(step) }
        }
    }

    private func known() throws -> CBPeripheral { try #require(peripheral) }

    private func characteristic(_ name: ContractAttribute) throws -> CBCharacteristic {
        try #require(service).characteristic(name)
    }

    /// Performs a step that leads to the attributes; returns false for other steps.
    private func beginning(_ step: Step) async throws -> Bool {
        switch step {
        case .scan:
            context.trace.clearSightings()
            context.manager.scanForPeripherals(withServices: nil)
        case .hear: peripheral = try await context.find()
        case .connect: context.manager.connect(try known())
        case .connected: try await context.expect(.didConnect())
        case .discoverServices: try known().discoverServices([CBUUID(.main)])
        case .servicesDiscovered:
            try await context.skip(.didDiscoverServices())
            service = try known().services?.first { $0.uuid == CBUUID(.main) }
        case .discoverCharacteristics: try known().discoverCharacteristics(nil, for: try #require(service))
        case .characteristicsDiscovered: try await context.skip(.didDiscoverCharacteristics(.main))
        case .discoverDescriptors: try known().discoverDescriptors(for: try characteristic(.described))
        case .descriptorsDiscovered: try await context.skip(.didDiscoverDescriptors(.described))
        default: return false
        }
        return true
    }

    private func using(_ step: Step) async throws {
        switch step {
        case .read: try known().readValue(for: try characteristic(.readOnly))
        case .valueRead: try await context.expect(.didUpdateValue(.readOnly, [0x0A]))
        case .write: try known().writeValue(value, for: try characteristic(.stored), type: .withResponse)
        case .written:
            try await context.expect(.didWriteValue(.stored))
            #expect(try await context.perform(.value(.stored)).value == value, "what was acknowledged is there")
        case .subscribe: try known().setNotifyValue(true, for: try characteristic(.notifying))
        case .subscribed: try await context.expect(.didUpdateNotificationState(.notifying, true))
        case .notified:
            for byte in UInt8(1)...3 {
                try await context.perform(.notify(.notifying, [byte]))
                try await context.expect(.didUpdateValue(.notifying, [byte]))
            }
        case .command: try known().writeValue(value, for: try characteristic(.commands), type: .withoutResponse)
        case .unsubscribe: try known().setNotifyValue(false, for: try characteristic(.notifying))
        case .disconnect:
            try await context.expect(.didUpdateNotificationState(.notifying, false))
            context.manager.cancelPeripheralConnection(try known())
        case .end: try await context.expect(.didDisconnect())
        default: break
        }
    }
}
