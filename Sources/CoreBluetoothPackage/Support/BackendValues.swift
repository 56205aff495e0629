import BluetoothBackend

/// A backend's values in Apple's types.
extension CBManagerState {
    init(_ state: AdapterState) {
        switch state {
        case .unknown: self = .unknown
        case .resetting: self = .resetting
        case .unsupported: self = .unsupported
        case .unauthorized: self = .unauthorized
        case .poweredOff: self = .poweredOff
        case .poweredOn: self = .poweredOn
        }
    }
}

extension CBManagerAuthorization {
    init(_ status: AuthorizationStatus) {
        switch status {
        case .notDetermined: self = .notDetermined
        case .restricted: self = .restricted
        case .denied: self = .denied
        case .allowed: self = .allowedAlways
        }
    }
}

extension ConnectionLatency {
    init(_ latency: CBPeripheralManagerConnectionLatency) {
        switch latency {
        case .low: self = .low
        case .medium: self = .medium
        case .high: self = .high
        }
    }
}
