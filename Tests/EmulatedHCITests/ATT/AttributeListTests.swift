import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import Testing

@testable import EmulatedHCI

struct AttributeListTests {
    private let table = AttributeList.of(ServedAttributes.sample)

    @Test func theAttributesAreInHandleOrder() {
        let handles = table.attributes.map(\.handle)
        #expect(handles == handles.sorted())
        #expect(
            handles == Array(1...9) + Array(0x10...0x19) + Array(0x30...0x33))
    }

    @Test func declarationsContainHandlesAndUUIDs() {
        let values = table.attributes.compactMap { attribute -> [UInt8]? in
            if case .declaration(let value) = attribute.content { value } else { nil }
        }
        let long = { (number: UInt128) in ServedAttributes.long(number).attBytes }
        #expect(
            values == [
                [0x00, 0x18], [0x02, 3, 0, 0x00, 0x2A], [0x02, 5, 0, 0x01, 0x2A],
                [0x01, 0x18], [0x20, 8, 0, 0x05, 0x2A],
                // The UUID of an included service is left out if it has 128 bits.
                [0x0D, 0x18], [0x30, 0, 0x33, 0], [0x30, 0x13, 0, 0x37, 0x2A], [0x02, 0x17, 0, 0x38, 0x2A],
                [0x0E, 0x19, 0] + long(2), long(1), [0x12, 0x32, 0, 0x37, 0x2A],
            ])
    }

    @Test func anIncludedServiceOf16BitsHasItsUUIDInTheDeclaration() throws {
        let table = AttributeList.of([
            TappedService(
                handles: 1...2, uuid: "180D", isPrimary: true,
                included: [TappedService.Include(handle: 2, handles: 9...10, uuid: "180F")], characteristics: [])
        ])
        let content = try #require(table[2]?.content)
        guard case .declaration(let value) = content else {
            Issue.record("no declaration: \(content)")
            return
        }
        #expect(value == [9, 0, 10, 0, 0x0F, 0x18])
        #expect(table[2]?.type == "2802")
    }

    @Test func servicesEndWithTheirLastHandleOthersWithTheirOwn() {
        #expect(table[0x10]?.groupEnd == 0x1F)
        #expect(table[0x10]?.type == "2800")
        #expect(table[0x30]?.groupEnd == 0x33)
        #expect(table[0x30]?.type == "2801")
        #expect(table[0x13]?.groupEnd == 0x13)
    }

    @Test(arguments: [0, 0x0A, 0x0F, 0x1A, 0x34, 0xFFFF] as [UInt16])
    func aHandleWithoutAnAttributeHasNone(_ handle: UInt16) { #expect(table[handle]?.handle == nil) }

    @Test func aRangeHasTheAttributesInIt() {
        #expect(table.attributes(in: 8...0x11).map(\.handle) == [8, 9, 0x10, 0x11])
        #expect(table.attributes(in: 0x1A...0x2F).map(\.handle) == [])
        #expect(table.attributes(in: 0x33...0xFFFF).map(\.handle) == [0x33])
        #expect(AttributeList().attributes(in: 1...0xFFFF).map(\.handle) == [])
    }

    @Test func theHandlesOfAnAttributeAreFoundByItsNumber() {
        #expect(table.handle(of: .at(0x13)) == 0x13)
        #expect(table.clientConfigurationHandle(of: .at(0x13)) == 0x14)
        #expect(table.handle(of: .at(0x15)) == 0x15)
        #expect(table.clientConfigurationHandle(of: .at(0x17)) == nil)
        // A Client Characteristic Configuration is no value of the device.
        #expect(table.handle(of: .at(0x14)) == nil)
    }

    @Test func aCharacteristicThatTheWorldDoesNotKnowIsLeftOut() {
        let table = AttributeList(ServedAttributes.sample, [3: .at(3)])
        #expect(table.attributes.map(\.handle) == [1, 2, 3, 6, 0x10, 0x11, 0x30])
    }
}
