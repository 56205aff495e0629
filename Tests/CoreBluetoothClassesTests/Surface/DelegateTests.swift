import CoreBluetoothClasses
import Testing

@Suite struct DelegateTests {
    @Test func theDefaultDisconnectBodyForwardsToTheShortMethod() {
        let delegate = ShortDelegate()
        let called: any CBCentralManagerDelegate = delegate
        called.centralManager(
            TestObjects.centralManager(), didDisconnectPeripheral: TestObjects.peripheral(), timestamp: 1,
            isReconnecting: false, error: CBError(.peripheralDisconnected))
        #expect(delegate.calls == ["short 7"])
    }

    @Test func S43_aDelegateWithBothDisconnectMethodsGetsTheLongOneOnly() {
        let delegate = BothDelegate()
        let called: any CBCentralManagerDelegate = delegate
        called.centralManager(
            TestObjects.centralManager(), didDisconnectPeripheral: TestObjects.peripheral(), timestamp: 1.5,
            isReconnecting: true, error: nil)
        #expect(delegate.calls == ["long 1.5 true"])
    }

    /// A client that implements only the required methods compiles, and all others may be called on it.
    @Test func everyOptionalMethodMayBeLeftOut() {
        let delegate = MinimalDelegate()
        let central = TestObjects.centralManager()
        let peripheral = TestObjects.peripheral()
        callOptionalMethods(of: delegate, central, peripheral)
        callOptionalMethods(of: delegate, peripheral)
        callOptionalMethods(
            of: delegate,
            CBPeripheralManager(
                backend: TestObjects.noAdapter, delegate: nil, queue: DispatchQueue(label: "peripheral manager")))
        #expect(delegate.states == 0)
    }

    private func callOptionalMethods(
        of delegate: any CBCentralManagerDelegate, _ central: CBCentralManager, _ peripheral: CBPeripheral
    ) {
        delegate.centralManager(central, willRestoreState: [:])
        delegate.centralManager(central, didDiscover: peripheral, advertisementData: [:], rssi: -40)
        delegate.centralManager(central, didConnect: peripheral)
        delegate.centralManager(central, didFailToConnect: peripheral, error: nil)
        delegate.centralManager(central, didDisconnectPeripheral: peripheral, error: nil)
        delegate.centralManager(
            central, didDisconnectPeripheral: peripheral, timestamp: 0, isReconnecting: false, error: nil)
        delegate.centralManager(central, connectionEventDidOccur: .peerConnected, for: peripheral)
        delegate.centralManager(central, didUpdateANCSAuthorizationFor: peripheral)
    }

    private func callOptionalMethods(of delegate: any CBPeripheralDelegate, _ peripheral: CBPeripheral) {
        let service = TestObjects.service()
        let characteristic = TestObjects.characteristic()
        let descriptor = TestObjects.descriptor()
        delegate.peripheralDidUpdateName(peripheral)
        delegate.peripheral(peripheral, didModifyServices: [])
        delegate.peripheralDidUpdateRSSI(peripheral, error: nil)
        delegate.peripheral(peripheral, didReadRSSI: -40, error: nil)
        delegate.peripheral(peripheral, didDiscoverServices: nil)
        delegate.peripheral(peripheral, didDiscoverIncludedServicesFor: service, error: nil)
        delegate.peripheral(peripheral, didDiscoverCharacteristicsFor: service, error: nil)
        delegate.peripheral(peripheral, didUpdateValueFor: characteristic, error: nil)
        delegate.peripheral(peripheral, didWriteValueFor: characteristic, error: nil)
        delegate.peripheral(peripheral, didUpdateNotificationStateFor: characteristic, error: nil)
        delegate.peripheral(peripheral, didDiscoverDescriptorsFor: characteristic, error: nil)
        delegate.peripheral(peripheral, didUpdateValueFor: descriptor, error: nil)
        delegate.peripheral(peripheral, didWriteValueFor: descriptor, error: nil)
        delegate.peripheralIsReady(toSendWriteWithoutResponse: peripheral)
        delegate.peripheral(peripheral, didOpen: nil, error: nil)
    }

    private func callOptionalMethods(of delegate: any CBPeripheralManagerDelegate, _ manager: CBPeripheralManager) {
        let characteristic = TestObjects.characteristic()
        let central = TestObjects.central()
        delegate.peripheralManager(manager, willRestoreState: [:])
        delegate.peripheralManagerDidStartAdvertising(manager, error: nil)
        delegate.peripheralManager(manager, didAdd: TestObjects.service(), error: nil)
        delegate.peripheralManager(manager, central: central, didSubscribeTo: characteristic)
        delegate.peripheralManager(manager, central: central, didUnsubscribeFrom: characteristic)
        delegate.peripheralManager(manager, didReceiveWrite: [])
        delegate.peripheralManagerIsReady(toUpdateSubscribers: manager)
        delegate.peripheralManager(manager, didPublishL2CAPChannel: 0x80, error: nil)
        delegate.peripheralManager(manager, didUnpublishL2CAPChannel: 0x80, error: nil)
        delegate.peripheralManager(manager, didOpen: nil, error: nil)
    }
}

private final class ShortDelegate: NSObject, CBCentralManagerDelegate {
    var calls: [String] = []

    func centralManagerDidUpdateState(_ central: CBCentralManager) {}

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        calls.append("short \((error as? CBError)?.errorCode ?? -1)")
    }
}

private final class BothDelegate: NSObject, CBCentralManagerDelegate {
    var calls: [String] = []

    func centralManagerDidUpdateState(_ central: CBCentralManager) {}

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        calls.append("short")
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?
    ) {
        calls.append("long \(timestamp) \(isReconnecting)")
    }
}

private final class MinimalDelegate: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate,
    CBPeripheralManagerDelegate
{
    var states = 0
    func centralManagerDidUpdateState(_ central: CBCentralManager) { states += 1 }
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) { states += 1 }
}
