import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth

/// A request of a spec central that begins at an offset within a value.
///
/// A host on the air reads and writes whole values from the beginning, so this request is sent to the manager directly,
/// one connection interval later. It is checked as the server checks its requests.
struct OffsetRequest {
    /// The first byte requested, counted from 0.
    let offset: Int
    /// The bytes to write; nil for a read.
    let value: Data?
    let spec: CBMCentralSpec
    let characteristic: CBMMutableCharacteristic
    let manager: CBMPeripheralManagerMock

    func perform(on emulator: Emulator, _ complete: @escaping (Result<Data, any Error>) -> Void) {
        let delay = Duration(seconds: spec.connectionInterval, clampedTo: .zero ... .seconds(4))
        let completion = HandedOver(complete)
        _ = emulator.clock.schedule(after: delay) { [self] in
            if let value { write(value, completion.value) } else { read(completion.value) }
        }
    }

    private func read(_ complete: @escaping (Result<Data, any Error>) -> Void) {
        guard !characteristic.permissions.isDisjoint(with: [.readable, .readEncryptionRequired]) else {
            return complete(.failure(CBMATTError(.readNotPermitted)))
        }
        guard let stored = characteristic.value else {
            return ask(complete) { $0.peripheralManager(manager, didReceiveRead: $1) }
        }
        guard offset <= stored.count else { return complete(.failure(CBMATTError(.invalidOffset))) }
        complete(.success(Data(stored.dropFirst(offset))))
    }

    private func write(_ value: Data, _ complete: @escaping (Result<Data, any Error>) -> Void) {
        guard !characteristic.permissions.isDisjoint(with: [.writeable, .writeEncryptionRequired]) else {
            return complete(.failure(CBMATTError(.writeNotPermitted)))
        }
        ask(complete) { $0.peripheralManager(manager, didReceiveWrite: [$1]) }
    }

    private func ask(
        _ complete: @escaping (Result<Data, any Error>) -> Void,
        _ call: @escaping (any CBMPeripheralManagerDelegate, CBMATTRequest) -> Void
    ) {
        let central = CBMCentralMock(
            nil, identifier: spec.identifier, maximumUpdateValueLength: spec.maximumUpdateValueLength)
        let isAnswered = Protected(false)
        let answer: (CBMATTError.Code, Data?) -> Void = { code, value in
            let isFirst = isAnswered.withLock { isAnswered in
                defer { isAnswered = true }
                return !isAnswered
            }
            guard isFirst else { return log.warning("API MISUSE: a request was answered twice") }
            complete(code == .success ? .success(value ?? Data()) : .failure(CBMATTError(code)))
        }
        let request = CBMATTRequestMock(
            .spec(answer), of: central, at: characteristic, offset: offset, value: value)
        manager.enqueue({ call($0, request) }, otherwise: { answer(.requestNotSupported, nil) })
    }
}
