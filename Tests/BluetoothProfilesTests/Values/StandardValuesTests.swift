import Foundation
import Testing

@testable import BluetoothProfiles

@Suite struct StandardValuesTests {
    private static func text<Value: GATTValue>(_ type: Value.Type, _ data: Data) throws -> String {
        "\(try type.init(decoding: data))"
    }

    private static func encodedAgain<Value: GATTValue>(_ type: Value.Type, _ data: Data) throws -> Data {
        try type.init(decoding: data).encoded
    }

    @Test(arguments: ValueVector.all)
    func eachValueHasItsLayoutInBothDirections(vector: ValueVector) throws {
        let type = try #require(StandardValues.type(of: vector.uuid))
        #expect(try Self.text(type, Data(hex: vector.hex)) == vector.text)
        #expect(try Self.encodedAgain(type, Data(hex: vector.hex)).hex == vector.hex)
    }

    @Test(arguments: ValueVector.all)
    func aSliceIsReadFromItsOwnStart(vector: ValueVector) throws {
        let type = try #require(StandardValues.type(of: vector.uuid))
        #expect(try Self.text(type, (Data([9, 9, 9]) + Data(hex: vector.hex)).dropFirst(3)) == vector.text)
    }

    /// Text and opaque bytes are complete at any length; heartbeat intervals are complete after each whole interval.
    @Test(arguments: ValueVector.all.filter { ![0x2A29, 0x2A2A].contains($0.uuid) })
    func aValueThatEndsTooEarlyNamesTheField(vector: ValueVector) throws {
        let type = try #require(StandardValues.type(of: vector.uuid))
        for count in 0..<Data(hex: vector.hex).count {
            let start = Data(hex: vector.hex).prefix(count)
            guard vector.uuid != 0x2A37 || count != 6 && count != 4 else { continue }
            // A compared value is as long as the characteristic's value, whose length the descriptor does not contain.
            guard vector.uuid != 0x290D || start.first != 6 else { continue }
            let error = #expect(throws: GATTValueError.self) { try Self.text(type, start) }
            guard case .tooShort(let needed, let available)? = error?.problem else {
                Issue.record("\(String(describing: error)) at \(count) bytes")
                continue
            }
            #expect(needed > available)
            #expect(error?.field.isEmpty == false)
        }
    }

    /// The scalars have one layout and a vector for each width, and all of them are in the round trip.
    @Test func everyTypeButScalarsHasAVector() {
        let tested = Set(ValueVector.all.map { "\(StandardValues.type(of: $0.uuid) as Any)" })
        let others = StandardValues.uuids.filter { !(StandardValues.type(of: $0) is any ScalarValue.Type) }
        for uuid in others { #expect(tested.contains("\(StandardValues.type(of: uuid) as Any)")) }
    }

    @Test func aUUIDWithoutATypeIsNil() { #expect(StandardValues.type(of: 0xFFFF) == nil) }
}
