import CoreBluetoothMock

// The peripherals that the program and the tests simulate.

package let fernDelegate = SensorSpecDelegate()
package let orchidDelegate = SensorSpecDelegate()

/// A sensor that advertises its Battery Service, so that a scan finds it.
package let fern = makeFern(fernDelegate)

/// A sensor that the system has seen before.
///
/// It advertises only its name: no scan finds it, but it can be retrieved.
package let orchid =
    CBMPeripheralSpec
    .simulatePeripheral(identifier: identifier(2), proximity: .near)
    .advertising(
        advertisementData: [
            CBMAdvertisementDataLocalNameKey: "Orchid",
            CBMAdvertisementDataIsConnectable: true as NSNumber,
        ], withInterval: 0.1
    )
    .connectable(
        name: "Orchid", services: [.battery], delegate: orchidDelegate, connectionInterval: 0.015,
        supervisionTimeout: 0.5
    )
    .allowForRetrieval()
    .build()

/// A thermometer, which is not a sensor of this app.
package let thermometer =
    CBMPeripheralSpec
    .simulatePeripheral(identifier: identifier(3), proximity: .immediate)
    .advertising(
        advertisementData: [
            CBMAdvertisementDataLocalNameKey: "Thermometer",
            CBMAdvertisementDataServiceUUIDsKey: [CBMUUID(string: "1809")],
            CBMAdvertisementDataIsConnectable: false as NSNumber,
        ], withInterval: 0.1
    )
    .build()

/// Returns a fern's sensor with separate firmware, for tests that run at the same time.
package func makeFern(_ delegate: SensorSpecDelegate) -> CBMPeripheralSpec {
    CBMPeripheralSpec
        .simulatePeripheral(identifier: identifier(1), proximity: .immediate)
        .advertising(
            advertisementData: [
                CBMAdvertisementDataLocalNameKey: "Fern",
                CBMAdvertisementDataServiceUUIDsKey: [CBMUUID.battery],
                CBMAdvertisementDataIsConnectable: true as NSNumber,
            ], withInterval: 0.05
        )
        .connectable(
            name: "Fern", services: [.battery, .environment, .immediateAlert], delegate: delegate,
            connectionInterval: 0.015, supervisionTimeout: 0.5, mtu: 23
        )
        .build()
}

private func identifier(_ number: UInt8) -> UUID {
    UUID(uuid: (0xFE, 0x24, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, number))
}
