import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

@Suite struct DescriptionTests {
    private func device(_ change: (inout PeripheralDescription) -> Void) -> PeripheralDescription {
        var description = PeripheralDescription(name: "A")
        change(&description)
        return description
    }

    private func path(of description: PeripheralDescription) -> String? {
        #expect(throws: DescriptionError.self) { try EmulatedPeripheral(description) }?.path
    }

    @Test func anImpossibleDescriptionNamesTheField() {
        #expect(path(of: device { $0.name = String(repeating: "x", count: 249) }) == "name")
        #expect(path(of: device { $0.maximumMTU = 22 }) == "maximumMTU")
        #expect(path(of: device { $0.rssi = 21 }) == "rssi")
        #expect(path(of: device { $0.maximumDataLength = 252 }) == "maximumDataLength")
        #expect(path(of: device { $0.connectionEventLength = .zero }) == "connectionEventLength")
        #expect(path(of: device { $0.packetsPerConnectionEvent = 0 }) == "packetsPerConnectionEvent")
        #expect(path(of: device { $0.connectionInterval = .seconds(5) }) == "connectionInterval")
        #expect(path(of: device { $0.supervisionTimeout = .milliseconds(99) }) == "supervisionTimeout")
        let value = Data(count: 513)
        #expect(
            path(of: device { $0.services = [.init("180F", characteristics: [.init("2A19", .read, value: value)])] })
                == "services[0].characteristics[0].value")
        #expect(
            path(
                of: device {
                    $0.services = [
                        .init("180F", characteristics: [.init("2A19", .read, timer: .init(every: .seconds(1)))])
                    ]
                })
                == "services[0].characteristics[0].timer")
        #expect(
            path(
                of: device {
                    $0.services = [
                        .init(
                            "180F", characteristics: [.init("2A19", .read, descriptors: [.init("2902", value: Data())])]
                        )
                    ]
                })
                == "services[0].characteristics[0].descriptors[0].uuid")
        let response = AdvertisingData(localName: String(repeating: "x", count: 30))
        #expect(
            path(of: device { $0.advertising = [.init(AdvertisingData(), scanResponse: response)] })
                == "advertising[0].scanResponse")
    }

    /// Core Specification Supplement, Part A: each list of UUIDs has a length and a type byte.
    @Test func thePacketLengthCountsEachADStructure() {
        let data = AdvertisingData(
            localName: "abc", txPowerLevel: 0, services: ["180F", "180A", ContractPeer.uuid("0001")],
            serviceData: ["180F": Data([1])], manufacturerData: Data([0, 0, 1]))
        #expect(data.encodedLength == 5 + 3 + 6 + 18 + 5 + 5)
    }

    @Test func twoDevicesCannotHaveOneAddress() throws {
        let emulator = Emulator(time: .virtual)
        try emulator.add(ContractPeer.description)
        #expect(throws: DescriptionError.self) { try emulator.add(ContractPeer.description) }
        #expect(emulator.devices.count == 1)
    }

    @Test func addressesAreReadAndWritten() {
        let text = "f0:F1:00:09:0a:ff"
        #expect(DeviceAddress(text)?.description == "F0:F1:00:09:0A:FF")
        for text in ["", "F0:F1:F2:F3:F4", "F0:F1:F2:F3:F4:F5:F6", "F0:F1:F2:F3:F4:G5", "F0:F1:F2:F3:F4:+5"] {
            #expect(DeviceAddress(text) == nil, "\(text)")
        }
    }
}
