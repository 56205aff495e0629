import CoreBluetooth

/// A heart rate client with its own queue, which passes values to an async sequence.
// Invariant of `@unchecked`: everything mutable is used only on `queue`.
final class HeartRateMonitor: NSObject, @unchecked Sendable {
    private enum ID {
        static let service = CBUUID(string: "180D")
        static let measurement = CBUUID(string: "2A37")
        static let location = CBUUID(string: "2A38")
        static let controlPoint = CBUUID(string: "2A39")
    }

    let beats: AsyncThrowingStream<Int, any Error>
    private let continuation: AsyncThrowingStream<Int, any Error>.Continuation
    private let queue = DispatchQueue(label: "heart rate")
    private var central: CBCentralManager!
    private var peripheral: CBPeripheral?

    override init() {
        (beats, continuation) = AsyncThrowingStream.makeStream()
        super.init()
        central = CBCentralManager(delegate: self, queue: queue)
    }

    static func beatsPerMinute(_ data: Data) -> Int? {
        guard let flags = data.first else { return nil }
        let bytes = data.dropFirst()
        if flags & 1 == 0 { return bytes.first.map { Int($0) } }
        guard bytes.count >= 2 else { return nil }
        return Int(bytes[bytes.startIndex]) | Int(bytes[bytes.startIndex + 1]) << 8
    }
}

extension HeartRateMonitor: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        if let known = central.retrieveConnectedPeripherals(withServices: [ID.service]).first {
            peripheral = known
            central.connect(known)
        } else {
            central.scanForPeripherals(withServices: [ID.service])
        }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.stopScan()
        self.peripheral = peripheral
        peripheral.delegate = self
        central.connect(peripheral, options: nil)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.delegate = self
        peripheral.discoverServices([ID.service])
    }

    func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {
        continuation.finish(throwing: error ?? CBError(.connectionFailed))
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        do {
            if let error { throw error }
            continuation.finish()
        } catch CBError.peripheralDisconnected, CBError.connectionTimeout {
            central.connect(peripheral)
        } catch let error as CBError where error.code == .notConnected || error.code == CBError.unknownDevice {
            continuation.finish()
        } catch {
            continuation.finish(throwing: error)
        }
    }
}

extension HeartRateMonitor: CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        guard error == nil, let services = peripheral.services else { return }
        for service in services where service.uuid == ID.service {
            peripheral.discoverCharacteristics([ID.measurement, ID.location, ID.controlPoint], for: service)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        for characteristic in service.characteristics ?? [] {
            switch characteristic.uuid {
            case ID.measurement where characteristic.properties.contains(.notify):
                peripheral.setNotifyValue(true, for: characteristic)
            case ID.location:
                peripheral.readValue(for: characteristic)
            case ID.controlPoint:
                peripheral.writeValue(Data([0x01]), for: characteristic, type: .withResponse)
            default:
                break
            }
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        if let error = error as? CBATTError {
            switch error.code {
            case .insufficientAuthentication, .insufficientEncryption: continuation.finish(throwing: error)
            case .invalidHandle: peripheral.discoverServices(nil)
            default: break
            }
            return
        }
        guard characteristic.uuid == ID.measurement, let value = characteristic.value else { return }
        if let beats = Self.beatsPerMinute(value) { continuation.yield(beats) }
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        guard invalidatedServices.contains(where: { $0.uuid == ID.service }) else { return }
        peripheral.discoverServices([ID.service])
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let error, (error as NSError).domain == CBATTErrorDomain { continuation.finish(throwing: error) }
    }
}
