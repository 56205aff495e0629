import CoreBluetooth

// Switches as apps write them: with every case and a `default`, which Apple's enumerations need, or `@unknown default`.
// A test compiles this file as part of another package, in both language modes, with warnings as errors.

enum StateSwitches {
    static func text(_ state: CBManagerState) -> String {
        switch state {
        case .unknown: return "unknown"
        case .resetting: return "resetting"
        case .unsupported: return "unsupported"
        case .unauthorized: return "unauthorized"
        case .poweredOff: return "off"
        case .poweredOn: return "on"
        default: return "another state"
        }
    }

    static func isUsable(_ central: CBCentralManager) -> Bool {
        switch central.state {
        case .poweredOn: return true
        case .unknown, .resetting, .unsupported, .unauthorized, .poweredOff: return false
        @unknown default: return false
        }
    }

    static func text(_ authorization: CBManagerAuthorization) -> String {
        switch authorization {
        case .notDetermined: return "not asked"
        case .restricted, .denied: return "no"
        case .allowedAlways: return "yes"
        default: return "another answer"
        }
    }

    static func mayBeAsked(_ authorization: CBManagerAuthorization) -> Bool {
        switch authorization {
        case .notDetermined: return true
        case .restricted, .denied, .allowedAlways: return false
        @unknown default: return false
        }
    }

    static func text(_ state: CBPeripheralState) -> String {
        switch state {
        case .disconnected: return "disconnected"
        case .connecting: return "connecting"
        case .connected: return "connected"
        case .disconnecting: return "disconnecting"
        default: return "another state"
        }
    }

    static func isMoving(_ peripheral: CBPeripheral) -> Bool {
        switch peripheral.state {
        case .connecting, .disconnecting: return true
        case .disconnected, .connected: return false
        @unknown default: return false
        }
    }

    static func text(_ type: CBCharacteristicWriteType) -> String {
        switch type {
        case .withResponse: return "request"
        case .withoutResponse: return "command"
        default: return "another type"
        }
    }

    static func text(_ event: CBConnectionEvent) -> String {
        switch event {
        case .peerConnected: return "connected"
        case .peerDisconnected: return "disconnected"
        default: return "another event"
        }
    }

    static func isConnection(_ event: CBConnectionEvent) -> Bool {
        switch event {
        case .peerConnected: return true
        case .peerDisconnected: return false
        @unknown default: return false
        }
    }

    static func text(_ latency: CBPeripheralManagerConnectionLatency) -> String {
        switch latency {
        case .low: return "low"
        case .medium: return "medium"
        case .high: return "high"
        default: return "another latency"
        }
    }

    static func isSlow(_ latency: CBPeripheralManagerConnectionLatency, _ type: CBCharacteristicWriteType) -> Bool {
        switch (latency, type) {
        case (.high, .withResponse): return true
        default: return false
        }
    }

    static func text(_ code: CBError.Code) -> String {
        switch code {
        case .connectionTimeout: return "out of range"
        case .peripheralDisconnected: return "the device closed the link"
        default: return "error \(code.rawValue)"
        }
    }
}
