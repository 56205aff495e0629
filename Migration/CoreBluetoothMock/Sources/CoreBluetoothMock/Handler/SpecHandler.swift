import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth

/// A handler that lets the delegate of a spec answer the requests of centrals.
///
/// The emulator calls it outside its lock, once at a time per device, and holds virtual time meanwhile.
final class SpecHandler: AsynchronousPeripheralHandler {
    private let device: SpecDevice

    init(_ device: SpecDevice) { self.device = device }

    /// Calls the delegate, in the selection of its world; nil without a delegate, or when the world has ended.
    ///
    /// Runs on the calling thread: a thread switch takes longer than everything else in a read.
    @discardableResult
    private func ask<Result>(_ body: (CBMPeripheralSpec, any CBMPeripheralSpecDelegate) -> Result) -> Result? {
        let spec = device.spec
        guard let delegate = spec.connectionDelegate, let world = device.world else { return nil }
        return world.hooks.run { world.perform { body(spec, delegate) } }
    }

    // MARK: AsynchronousPeripheralHandler

    func respond(to request: ConnectionRequest) async -> ConnectionResponse {
        switch ask({ $1.peripheralDidReceiveConnectionRequest($0) }) {
        case .success: .accepted
        case .failure(let error): .failure(OpaqueError(error))
        case nil: .refused
        }
    }

    func respond(to procedure: PeripheralProcedure) async -> ProcedureResponse {
        switch result(of: procedure) {
        case .success: .granted
        case .failure(let error): error.attCode.map { .error($0) } ?? .failure(OpaqueError(error))
        case nil: .granted
        }
    }

    func respond(to request: PeripheralRequest) async -> PeripheralResponse {
        guard let position = request.position else { return .stored }
        let result: Result<PeripheralResponse, any Error>?
        switch request.kind {
        case .read: result = read(at: position)?.map { .value($0.prefix(ATTLimit.longestValue)) }
        case .write(let value): result = write(value, at: position)?.map { .accepted }
        case .writeCommand(let value): result = writeCommand(value, at: position)
        }
        switch result {
        case .success(let response): return response
        case .failure(let error): return error.attCode.map { .error($0) } ?? .failure(OpaqueError(error))
        case nil: return .stored
        }
    }

    func handle(_ event: DeviceEvent) async {
        switch event {
        case .subscribed(_, let attribute, _): setNotifying(attribute, true)
        case .unsubscribed(_, let attribute, _): setNotifying(attribute, false)
        case .disconnected: disconnected()
        default: break
        }
    }

    // MARK: Events

    private func setNotifying(_ attribute: AttributeID, _ isNotifying: Bool) {
        guard let position = device.device?.position(of: attribute) else { return }
        device.layout.characteristic(at: position)?.isNotifying = isNotifying
    }

    private func disconnected() {
        guard device.device.map({ $0.connectionCount == 0 }) ?? true else { return }
        for service in device.layout.mocks { service.mocks.forEach { $0.isNotifying = false } }
        device.spec.fields.withLock { spec in
            // Another app reconnects when the adapter is on.
            if spec.isAdapterOff { spec.managers = [] } else { spec.dropLinks() }
        }
        let reason = device.takeReason()
        ask { $1.peripheral($0, didDisconnect: reason) }
    }

    // MARK: Procedures

    private func result(of procedure: PeripheralProcedure) -> Result<Void, any Error>? {
        let types = procedure.types?.map { CBMUUID($0) }
        if procedure.kind == .discoverServices {
            return ask { $1.peripheral($0, didReceiveServiceDiscoveryRequest: types) }
        }
        guard let position = procedure.position else { return nil }
        if let characteristic = device.layout.characteristic(at: position) {
            return result(of: procedure.kind, at: characteristic)
        }
        guard let service = device.layout.service(at: position) else { return nil }
        switch procedure.kind {
        case .discoverIncludedServices:
            return ask {
                $1.peripheral($0, didReceiveIncludedServiceDiscoveryRequest: types, for: service)
            }
        case .discoverCharacteristics:
            return ask {
                $1.peripheral($0, didReceiveCharacteristicsDiscoveryRequest: types, for: service)
            }
        default: return nil
        }
    }

    private func result(
        of kind: PeripheralProcedure.Kind, at characteristic: CBMCharacteristicMock
    ) -> Result<Void, any Error>? {
        switch kind {
        case .discoverDescriptors:
            return ask { $1.peripheral($0, didReceiveDescriptorsDiscoveryRequestFor: characteristic) }
        case .subscribe, .unsubscribe:
            let isOn = kind == .subscribe
            let result = ask { $1.peripheral($0, didReceiveSetNotifyRequest: isOn, for: characteristic) }
            // Set before the app receives the answer.
            if case .success? = result { characteristic.isNotifying = isOn }
            return result
        default: return nil
        }
    }

    // MARK: Values

    private func read(at position: AttributePosition) -> Result<Data, any Error>? {
        let layout = device.layout
        if position.descriptor != nil {
            guard let descriptor = layout.descriptor(at: position) else { return nil }
            return ask { $1.peripheral($0, didReceiveReadRequestFor: descriptor) }
        }
        guard let characteristic = layout.characteristic(at: position) else { return nil }
        return ask { $1.peripheral($0, didReceiveReadRequestFor: characteristic) }
    }

    private func write(_ value: Data, at position: AttributePosition) -> Result<Void, any Error>? {
        let layout = device.layout
        if position.descriptor != nil {
            guard let descriptor = layout.descriptor(at: position) else { return nil }
            return ask { $1.peripheral($0, didReceiveWriteRequestFor: descriptor, data: value) }
        }
        guard let characteristic = layout.characteristic(at: position) else { return nil }
        return ask { $1.peripheral($0, didReceiveWriteRequestFor: characteristic, data: value) }
    }

    private func writeCommand(
        _ value: Data, at position: AttributePosition
    ) -> Result<PeripheralResponse, any Error>? {
        guard let characteristic = device.layout.characteristic(at: position) else { return nil }
        ask { $1.peripheral($0, didReceiveWriteCommandFor: characteristic, data: value) }
        return .success(.accepted)
    }
}

/// Limits of the Attribute Protocol.
private enum ATTLimit {
    /// The longest value of an attribute, in bytes (Core Specification, Vol 3, Part F, 3.2.9).
    static let longestValue = 512
}

extension Error {
    /// The code that is sent over the air; nil for an error outside the Attribute Protocol.
    fileprivate var attCode: ATTCode? {
        guard let error = self as? CBMATTError, let code = UInt8(exactly: error.code.rawValue), code > 0 else {
            return nil
        }
        return ATTCode(rawValue: code)
    }
}
