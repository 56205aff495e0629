import BluetoothLocking
import CoreBluetooth

/// Requests of other devices, each answered by a task.
extension ServerCore {
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        let manager = Unchecked(peripheral)
        let request = Unchecked(request)
        let attribute = withState { $0.attributes[ObjectIdentifier(request.value.characteristic)] }
        guard let handler = attribute?.served.onRead else {
            return peripheral.respond(to: request.value, withResult: .readNotPermitted)
        }
        let central = RemoteCentral(request.value.central)
        handle(refuse: { peripheral.respond(to: request.value, withResult: .insufficientResources) }) {
            let result: CBATTError.Code
            do {
                let value = try await self.limited(by: manager) { try await handler(central) }
                if request.value.offset <= value.count {
                    request.value.value = Data(value.dropFirst(request.value.offset))
                    result = .success
                } else {
                    result = .invalidOffset
                }
            } catch {
                result = error.attCode
            }
            manager.value.respond(to: request.value, withResult: result)
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        guard let first = requests.first else { return }
        let manager = Unchecked(peripheral)
        let answered = Unchecked(first)
        let writes = joined(requests)
        guard let writes else { return peripheral.respond(to: first, withResult: .writeNotPermitted) }
        handle(refuse: { peripheral.respond(to: first, withResult: .insufficientResources) }) {
            var result = CBATTError.Code.success
            do {
                for (handler, write) in writes { try await self.limited(by: manager) { try await handler(write) } }
            } catch {
                result = error.attCode
            }
            manager.value.respond(to: answered.value, withResult: result)
        }
    }

    /// The writes with their handlers, the parts of a long one joined; nil if one has no handler.
    private func joined(_ requests: [CBATTRequest]) -> [(ServedCharacteristic.WriteHandler, WriteRequest)]? {
        var writes: [(handler: ServedCharacteristic.WriteHandler, request: WriteRequest)] = []
        var previous: CBCharacteristic?
        for request in requests {
            let value = request.value ?? Data()
            if let last = writes.last?.request, previous === request.characteristic,
                last.offset + last.value.count == request.offset
            {
                writes[writes.count - 1].request = WriteRequest(
                    central: last.central, value: last.value + value, offset: last.offset)
                continue
            }
            let attribute = withState { $0.attributes[ObjectIdentifier(request.characteristic)] }
            guard let handler = attribute?.served.onWrite else { return nil }
            previous = request.characteristic
            let write = WriteRequest(central: RemoteCentral(request.central), value: value, offset: request.offset)
            writes.append((handler, write))
        }
        return writes
    }
}

extension Error {
    /// What a device is told of a handler's error.
    fileprivate var attCode: CBATTError.Code { (self as? CBATTError)?.code ?? .unlikelyError }
}
