import Foundation
import Testing

@testable import CoreBluetoothClasses

/// Objects as arguments of "%@", as in `NSLog("%@", peripheral)`.
@Suite struct FormatArgumentTests {
    @Test func everyClassPrintsItsDescription() {
        let manager = CBManager.withBackend(TestObjects.noAdapter) {
            CBCentralManager(delegate: nil, queue: .global())
        }
        let characteristic = CBMutableCharacteristic(
            type: CBUUID(string: "2A19"), properties: .read, value: nil, permissions: .readable)
        let objects: [any NSObject & CVarArg] = [
            CBUUID(string: "180F"), characteristic, CBMutableService(type: CBUUID(string: "180F"), primary: true),
            CBMutableDescriptor(type: CBUUID(string: "2901"), value: "text"), TestObjects.central(), manager,
        ]
        for object in objects {
            #expect(String(format: "<%@|%d>", object, 5) == "<\(object.description)|5>")
        }
    }
}
