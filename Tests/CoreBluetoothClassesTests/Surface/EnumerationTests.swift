import CoreBluetoothClasses
import Testing

/// The raw values are part of the API: apps store and send them.
@Suite struct EnumerationTests {
    @Test func managerStatesHaveApplesRawValues() {
        let table: [(CBManagerState, Int)] = [
            (.unknown, 0), (.resetting, 1), (.unsupported, 2), (.unauthorized, 3), (.poweredOff, 4), (.poweredOn, 5),
        ]
        check(table)
    }

    @Test func authorizationsHaveApplesRawValues() {
        let table: [(CBManagerAuthorization, Int)] = [
            (.notDetermined, 0), (.restricted, 1), (.denied, 2), (.allowedAlways, 3),
        ]
        check(table)
    }

    @Test func peripheralStatesHaveApplesRawValues() {
        let table: [(CBPeripheralState, Int)] = [
            (.disconnected, 0), (.connecting, 1), (.connected, 2), (.disconnecting, 3),
        ]
        check(table)
    }

    @Test func smallEnumerationsHaveApplesRawValues() {
        check([(CBCharacteristicWriteType.withResponse, 0), (.withoutResponse, 1)])
        check([(CBConnectionEvent.peerDisconnected, 0), (.peerConnected, 1)])
        check([(CBPeripheralManagerConnectionLatency.low, 0), (.medium, 1), (.high, 2)])
    }

    @Test func deprecatedEnumerationsHaveApplesRawValues() throws {
        let source: Any = DeprecatedTables()
        let tables = try CBManager.withBackend(TestObjects.noAdapter) {
            try #require(source as? any TableSource).tables
        }
        for (type, rows) in tables {
            for (found, expected) in rows { #expect(found == expected, "\(type)") }
        }
    }

    @Test func propertiesHaveApplesBits() {
        let table: [(CBCharacteristicProperties, UInt)] = [
            (.broadcast, 0x01), (.read, 0x02), (.writeWithoutResponse, 0x04), (.write, 0x08), (.notify, 0x10),
            (.indicate, 0x20), (.authenticatedSignedWrites, 0x40), (.extendedProperties, 0x80),
            (.notifyEncryptionRequired, 0x100), (.indicateEncryptionRequired, 0x200),
        ]
        for (set, bits) in table { #expect(set.rawValue == bits) }
        let both: CBCharacteristicProperties = [.read, .notify]
        #expect(both.rawValue == 0x12)
        #expect(both.contains(.notify))
    }

    @Test func permissionsHaveApplesBits() {
        let table: [(CBAttributePermissions, UInt)] = [
            (.readable, 0x01), (.writeable, 0x02), (.readEncryptionRequired, 0x04), (.writeEncryptionRequired, 0x08),
        ]
        for (set, bits) in table { #expect(set.rawValue == bits) }
    }

    @Test func featuresHaveApplesBits() {
        #expect(CBCentralManager.Feature.extendedScanAndConnect.rawValue == 1)
    }

    @Test func aPSMIsSixteenBitsWide() {
        #expect(CBL2CAPPSM.max == 0xFFFF)
    }

    @Test func matchingOptionsAreDistinctKeys() {
        let options: [CBConnectionEventMatchingOption: Any] = [
            .serviceUUIDs: [CBUUID(string: "180D")], .peripheralUUIDs: [UUID()],
        ]
        #expect(options.count == 2)
        #expect(CBConnectionEventMatchingOption(rawValue: "a").rawValue == "a")
    }

    private func check<Value: RawRepresentable & Equatable>(_ table: [(Value, Int)]) where Value.RawValue == Int {
        for (value, raw) in table {
            #expect(value.rawValue == raw)
            #expect(Value(rawValue: raw) == value)
        }
    }
}

private protocol TableSource {
    var tables: [(String, [(Int, Int)])] { get }
}

private struct DeprecatedTables {}

// Deprecated itself, so that naming deprecated cases gives no warning; it is called through its protocol.
@available(*, deprecated)
extension DeprecatedTables: TableSource {
    var tables: [(String, [(Int, Int)])] {
        let central: [CBCentralManagerState] = [
            .unknown, .resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn,
        ]
        let peripheral: [CBPeripheralManagerState] = [
            .unknown, .resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn,
        ]
        let status: [CBPeripheralManagerAuthorizationStatus] = [.notDetermined, .restricted, .denied, .authorized]
        return [
            ("CBCentralManagerState", central.enumerated().map { ($1.rawValue, $0) }),
            ("CBPeripheralManagerState", peripheral.enumerated().map { ($1.rawValue, $0) }),
            ("CBPeripheralManagerAuthorizationStatus", status.enumerated().map { ($1.rawValue, $0) }),
            (
                "authorizationStatus()",
                [(CBPeripheralManager.authorizationStatus().rawValue, CBManager.authorization.rawValue)]
            ),
        ]
    }
}
