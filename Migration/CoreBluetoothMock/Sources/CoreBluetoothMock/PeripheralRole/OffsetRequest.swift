import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth

/// A request of a spec central that begins within a value.
///
/// A host on the air reads and writes whole values from the beginning, so this request goes to the manager beside the
/// radio, one connection interval later. It is checked as the server checks its requests.
struct OffsetRequest {
    private let request: CentralRequest
    private let spec: CBMCentralSpec
    private let characteristic: CBMMutableCharacteristic
    private let manager: CBMPeripheralManagerMock

    init(
        _ request: CentralRequest, of spec: CBMCentralSpec, at characteristic: CBMMutableCharacteristic,
        in manager: CBMPeripheralManagerMock
    ) {
        self.request = request
        self.spec = spec
        self.characteristic = characteristic
        self.manager = manager
    }

    func perform(on emulator: Emulator, _ complete: @escaping (Result<Data, any Error>) -> Void) {
        let delay = Duration(seconds: spec.connectionInterval, clampedTo: .zero ... .seconds(4))
        let owner = HandedOver(complete)
        _ = emulator.clock.schedule(after: delay) { [self] in answer(owner.value) }
    }

    private func answer(_ complete: @escaping (Result<Data, any Error>) -> Void) {
        switch request {
        case .read(let offset):
            guard !characteristic.permissions.isDisjoint(with: [.readable, .readEncryptionRequired]) else {
                return complete(.failure(CBMATTError(.readNotPermitted)))
            }
            if let value = characteristic.value {
                return complete(
                    offset <= value.count
                        ? .success(Data(value.dropFirst(offset))) : .failure(CBMATTError(.invalidOffset)))
            }
            ask(offset, nil, complete) { [manager] delegate, request in
                delegate.peripheralManager(manager, didReceiveRead: request)
            }
        case .write(let data, let offset):
            guard !characteristic.permissions.isDisjoint(with: [.writeable, .writeEncryptionRequired]) else {
                return complete(.failure(CBMATTError(.writeNotPermitted)))
            }
            ask(offset, data, complete) { [manager] delegate, request in
                delegate.peripheralManager(manager, didReceiveWrite: [request])
            }
        case .command, .subscribe: preconditionFailure("only reads and writes have an offset")
        }
    }

    private func ask(
        _ offset: Int, _ value: Data?, _ complete: @escaping (Result<Data, any Error>) -> Void,
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
