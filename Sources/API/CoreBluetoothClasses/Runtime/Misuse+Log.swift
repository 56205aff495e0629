import BluetoothBackend
import BluetoothSupport
import Logging

/// Logs a call that is ignored, as Apple does: label `CoreBluetooth`, level `warning`.
func logMisuse(_ text: String) {
    // A new logger each time, so that the handler is the one that the app has bootstrapped by now.
    Logger(label: "CoreBluetooth").line(.warning, text)
}

extension CentralCore {
    func log(_ misuse: CentralMisuse) { logMisuse(text(of: misuse)) }

    private func text(of misuse: CentralMisuse) -> String {
        switch misuse {
        case .notPoweredOn:
            "API MISUSE: \(managerText) can only accept this command while in the powered on state"
        case .noRestoreIdentifier:
            "API MISUSE: \(managerText) has no restore identifier but the delegate implements the "
                + "centralManager:willRestoreState: method. Restoring will not be supported"
        case .notConnected(let id):
            "API MISUSE: \(text(of: id)) can only accept commands while in the connected state"
        case .stalePeripheral(let id):
            "API MISUSE: \(text(of: id)) is no longer valid; discover or retrieve it again"
        case .foreignPeripheral(let id):
            "API MISUSE: \(text(of: id)) belongs to another manager than \(managerText)"
        case .staleAttribute(let id):
            "API MISUSE: attribute \(id) belongs to an earlier connection; discover it again"
        case .unusedWhileConnecting(let id):
            "API MISUSE: Cancelling connection for unused peripheral \(text(of: id)), "
                + "Did you forget to keep a reference to it?"
        case .unusedWhileConnected(let id):
            "API MISUSE: Forcing disconnection of unused peripheral \(text(of: id)). "
                + "Did you forget to cancel the connection?"
        case .writeWithoutResponseNotSupported(let id):
            "WARNING: Characteristic <\(id)> does not specify the \"Write Without Response\" property"
                + " - ignoring response-less write"
        case .writeCommandTooLong(let id, let length, let maximum):
            "WARNING: Characteristic <\(id)>: \(length) bytes are more than the \(maximum) that fit"
                + " - ignoring response-less write"
        case .transmitQueueFull(let id):
            "WARNING: Characteristic <\(id)>: the transmit queue is full - ignoring response-less write"
        case .localAttribute(let attribute):
            "API MISUSE: \(attribute) was not discovered at a peripheral"
        case .delegateIsNil(let action, let method):
            "API MISUSE: \(action) while delegate is either nil or does not implement \(method)"
        }
    }

    private var managerText: String { manager?.description ?? "<CBCentralManager>" }

    private func text(of id: PeerID) -> String {
        peripheral(id)?.description ?? "<CBPeripheral: identifier = \(id)>"
    }
}

extension PeripheralCore {
    func log(_ misuse: PeripheralMisuse) { logMisuse(text(of: misuse)) }

    private func text(of misuse: PeripheralMisuse) -> String {
        switch misuse {
        case .notPoweredOn:
            "API MISUSE: \(managerText) can only accept this command while in the powered on state"
        case .noRestoreIdentifier:
            "API MISUSE: \(managerText) has no restore identifier but the delegate implements the "
                + "peripheralManager:willRestoreState: method. Restoring will not be supported"
        case .refusedService(let uuid, let reason):
            "WARNING: \(managerText) does not publish service \(uuid): \(reason)"
        case .includedByAnother(let uuid, let includer):
            "API MISUSE: \(managerText) cannot remove service \(uuid) before service \(includer), which includes it"
        case .notPublished(let uuid):
            "API MISUSE: \(managerText) has not published characteristic \(uuid)"
        case .foreignRequest:
            "API MISUSE: \(managerText) was given a request that it did not make"
        case .notWaiting(let request):
            "API MISUSE: \(managerText): request \(request) does not wait for a response"
                + " - it has one already, or its central is gone"
        case .notTheFirst(let request):
            "API MISUSE: \(managerText): respond to the first of the requests that were received together"
                + " - ignoring a response to another of request \(request)"
        case .nobodyAnswers(let request):
            "WARNING: \(managerText) has no delegate to answer request \(request) - refusing it"
        case .advertisingEnded:
            "WARNING: \(managerText): the system has ended the advertisement"
        case .advertisingNotResumed(let error):
            "WARNING: \(managerText): the advertisement does not go on: \(error)"
        }
    }

    private var managerText: String { manager?.description ?? "<CBPeripheralManager>" }
}
