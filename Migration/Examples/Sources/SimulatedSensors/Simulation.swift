import CoreBluetoothMock

/// Adds the sensors to the simulation of this process.
///
/// While an app observes the fern, its soil becomes drier each second, until the sensor alerts and the fern is watered.
package func simulateSensors() {
    CBMCentralManagerMock.simulateInitialState(.poweredOff)
    CBMCentralManagerMock.simulatePeripherals([fern, orchid, thermometer])
    CBMCentralManagerMock.simulateInitialState(.poweredOn)
    fernDelegate.onSubscription = { dry() }
}

private func dry() {
    DispatchQueue.main.asyncAfter(deadline: .now() + 1) {
        guard fern.isConnected else { return }
        fernDelegate.humidity = fernDelegate.alert > 0 ? 60_00 : fernDelegate.humidity - 2_00
        fern.simulateValueUpdate(Data(fernDelegate.humidity), for: .humidity)
        dry()
    }
}
