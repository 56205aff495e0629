import Testing

@testable import CoreBluetoothClasses

@Suite struct TrapTests {
    @Test func U2_anEmptyTextTraps() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { _ = CBUUID(string: "") }
        #expect(text(result).contains("String  does not represent a valid UUID"))
    }

    @Test func U2_digitsWithoutHyphensTrap() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { _ = CBUUID(string: "0000180D00001000800000805F9B34FB") }
        #expect(text(result).contains("String 0000180D00001000800000805F9B34FB does not represent a valid UUID"))
    }

    @Test func U2_whatIsNotHexadecimalTraps() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { _ = CBUUID(string: "180G") }
        #expect(text(result).contains("String 180G does not represent a valid UUID"))
    }

    @Test func U3_dataOfThreeBytesTraps() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { _ = CBUUID(data: Data([1, 2, 3])) }
        #expect(text(result).contains("Data of 3 bytes does not represent a valid UUID"))
    }

    @Test func anUnknownKeyOfAPeerTraps() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { _ = CBCentral(identifier: UUID(), mtu: 23).value(forKey: "address") }
        #expect(text(result).contains("this class is not key value coding-compliant for the key address."))
    }

    @Test func S108_addingAStaticValueThatIsNotReadOnlyTraps() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let service = TestObjects.service()
            service.characteristics = [
                CBMutableCharacteristic(
                    type: CBUUID(string: "2A37"), properties: [.read, .notify], value: Data([1]),
                    permissions: .readable)
            ]
            CBPeripheralManager(backend: TestObjects.noAdapter, delegate: nil, queue: nil).add(service)
        }
        #expect(text(result).contains("Characteristics with cached values must be read-only"))
    }

    @Test func S115_addingAFormatThatIsNoDataTraps() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let characteristic = TestObjects.characteristic()
            characteristic.descriptors = [CBMutableDescriptor(type: CBUUID(string: "2904"), value: "text")]
            let service = TestObjects.service()
            service.characteristics = [characteristic]
            CBPeripheralManager(backend: TestObjects.noAdapter, delegate: nil, queue: nil).add(service)
        }
        #expect(text(result).contains("Expecting NSData value type for Format descriptor"))
    }

    private func text(_ result: ExitTest.Result) -> String {
        String(decoding: result.standardErrorContent, as: UTF8.self)
    }
}
