import CoreBluetoothMock

/// A spec's delegate that records its calls, and answers as a test requires.
final class Sensor: CBMPeripheralSpecDelegate, @unchecked Sendable {
    struct Answers {
        var connection: Result<Void, any Error> = .success(())
        var discovery: Result<Void, any Error> = .success(())
        var read: Result<Data, any Error> = .success(Data([1, 2]))
        var write: Result<Void, any Error> = .success(())
        var notify: Result<Void, any Error> = .success(())
        /// Called for each write, with the peripheral and the value.
        var onWrite: (CBMPeripheralSpec, Data) -> Void = { _, _ in }
        /// Called when the last link ends.
        var onDisconnect: (CBMPeripheralSpec) -> Void = { _ in }
    }

    // Invariant: accessed under the lock.
    private let lock = NSLock()
    private var lines: [String] = []
    private var current = Answers()

    var answers: Answers {
        get { lock.withLock { current } }
        set { lock.withLock { current = newValue } }
    }

    /// Takes the calls since the last one.
    func take() -> [String] {
        lock.withLock {
            defer { lines = [] }
            return lines
        }
    }

    private func note(_ line: String) { lock.withLock { lines.append(line) } }

    private func list(_ uuids: [CBMUUID]?) -> String {
        uuids.map { $0.map(\.uuidString).joined(separator: ", ") } ?? "all"
    }

    func reset() { note("reset") }

    func peripheralDidReceiveConnectionRequest(_ peripheral: CBMPeripheralSpec) -> Result<Void, any Error> {
        note("connect")
        return answers.connection
    }

    func peripheral(_ peripheral: CBMPeripheralSpec, didDisconnect error: (any Error)?) {
        note("disconnect \((error as? CBMError).map { "CB \($0.code.rawValue)" } ?? error.map { "\($0)" } ?? "-")")
        answers.onDisconnect(peripheral)
    }

    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveServiceDiscoveryRequest serviceUUIDs: [CBMUUID]?
    ) -> Result<Void, any Error> {
        note("services \(list(serviceUUIDs))")
        return answers.discovery
    }

    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveIncludedServiceDiscoveryRequest serviceUUIDs: [CBMUUID]?,
        for service: CBMServiceMock
    ) -> Result<Void, any Error> {
        note("included \(list(serviceUUIDs)) of \(service.uuid.uuidString)")
        return answers.discovery
    }

    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveCharacteristicsDiscoveryRequest characteristicUUIDs: [CBMUUID]?,
        for service: CBMServiceMock
    ) -> Result<Void, any Error> {
        note("characteristics \(list(characteristicUUIDs)) of \(service.uuid.uuidString)")
        return answers.discovery
    }

    func peripheral(
        _ peripheral: CBMPeripheralSpec,
        didReceiveDescriptorsDiscoveryRequestFor characteristic: CBMCharacteristicMock
    ) -> Result<Void, any Error> {
        note("descriptors of \(characteristic.uuid.uuidString)")
        return answers.discovery
    }

    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveReadRequestFor characteristic: CBMCharacteristicMock
    ) -> Result<Data, any Error> {
        note("read \(characteristic.uuid.uuidString) of \(characteristic.service?.uuid.uuidString ?? "-")")
        return answers.read
    }

    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveReadRequestFor descriptor: CBMDescriptorMock
    ) -> Result<Data, any Error> {
        note("read \(descriptor.uuid.uuidString) of \(descriptor.characteristic?.uuid.uuidString ?? "-")")
        return answers.read
    }

    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveWriteRequestFor characteristic: CBMCharacteristicMock, data: Data
    ) -> Result<Void, any Error> {
        note("write \(data.count) bytes")
        answers.onWrite(peripheral, data)
        return answers.write
    }

    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveWriteCommandFor characteristic: CBMCharacteristicMock, data: Data
    ) {
        note("command \(data.count) bytes")
        answers.onWrite(peripheral, data)
    }

    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveWriteRequestFor descriptor: CBMDescriptorMock, data: Data
    ) -> Result<Void, any Error> {
        note("write descriptor \(data.count) bytes")
        return answers.write
    }

    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveSetNotifyRequest enabled: Bool,
        for characteristic: CBMCharacteristicMock
    ) -> Result<Void, any Error> {
        note("notify \(enabled)")
        return answers.notify
    }

    func peripheral(
        _ peripheral: CBMPeripheralSpec, didUpdateNotificationStateFor characteristic: CBMCharacteristicMock,
        error: (any Error)?
    ) {
        note("notified \(characteristic.isNotifying)\(error == nil ? "" : " with an error")")
    }
}

extension Sensor {
    static let service = CBMUUID(string: "181A")
    static let value = CBMUUID(string: "2A6E")

    /// Returns a spec that advertises its name and serves one characteristic, with this delegate.
    func spec(
        _ name: String = "Sensor", identifier: UUID = UUID(), proximity: CBMProximity = .immediate,
        services: [CBMServiceMock]? = nil, supervisionTimeout: TimeInterval = 1, mtu: Int = 23
    ) -> CBMPeripheralSpec {
        CBMPeripheralSpec.simulatePeripheral(identifier: identifier, proximity: proximity)
            .advertising(
                advertisementData: [
                    CBMAdvertisementDataLocalNameKey: name,
                    CBMAdvertisementDataServiceUUIDsKey: [Self.service],
                    CBMAdvertisementDataIsConnectable: true as NSNumber,
                ], withInterval: 0.1
            )
            .connectable(
                name: name, services: services ?? [Self.simpleService()], delegate: self, connectionInterval: 0.02,
                supervisionTimeout: supervisionTimeout, mtu: mtu
            )
            .build()
    }

    static func simpleService() -> CBMServiceMock {
        CBMServiceMock(
            type: service, primary: true,
            characteristics: CBMCharacteristicMock(
                type: value, properties: [.read, .write, .writeWithoutResponse, .notify],
                descriptors: CBMDescriptorMock(type: CBMUUID(string: "2901")), CBMCCCDescriptorMock()))
    }
}

extension CBMPeripheralSpec {
    /// The server's first characteristic.
    var characteristic: CBMCharacteristicMock {
        guard let first = services?.first?.characteristics?.first as? CBMCharacteristicMock else {
            preconditionFailure("the spec of a test has a characteristic")
        }
        return first
    }
}

extension CBMPeripheral {
    /// The first characteristic that was discovered.
    var characteristic: CBMCharacteristic? { services?.first?.characteristics?.first }
}

/// An error of a test.
struct TestError: Error, Equatable {
    let number: Int
}
