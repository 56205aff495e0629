import BluetoothBackend
import Logging

extension PeripheralCore {
    /// Writes what Apple writes for a call that is ignored.
    ///
    /// Label `CoreBluetooth`, level `warning`.
    func log(_ misuse: PeripheralMisuse) {
        // A new logger each time, so that the handler is the one that the app has bootstrapped by now.
        Logger(label: "CoreBluetooth").warning("\(text(of: misuse))")
    }

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
