import CoreBluetooth
import Foundation

/// A peripheral app as it is written for real devices: one service, whose value is read, written and notified.
final class ServerApp: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    /// The treatment of a request.
    enum Manners {
        case answers, refuses, staysSilent
    }

    static let service = CBUUID(string: "FFE0")
    static let value = CBUUID(string: "FFE1")

    // Invariant: used only on `queue`, except for `psm`, which is read when the queue is idle.
    private(set) var psm: CBL2CAPPSM?
    private let manners: Manners
    private let publishesChannel: Bool
    private let characteristic: CBMutableCharacteristic
    private var channel: CBL2CAPChannel?
    private var manager: CBPeripheralManager?

    init(_ manners: Manners = .answers, publishesChannel: Bool = false, restoreIdentifier: String? = nil) {
        self.manners = manners
        self.publishesChannel = publishesChannel
        characteristic = CBMutableCharacteristic(
            type: Self.value, properties: [.read, .write, .notify], value: nil, permissions: [.readable, .writeable])
        super.init()
        let options = restoreIdentifier.map { [CBPeripheralManagerOptionRestoreIdentifierKey: $0] }
        manager = CBPeripheralManager(delegate: self, queue: DispatchQueue(label: "server app"), options: options)
    }

    /// Ends all operations.
    func stop() {
        channel = nil
        manager = nil
    }

    /// Updates the value until there is no room.
    func fill() {
        while manager?.updateValue(Data([7]), for: characteristic, onSubscribedCentrals: nil) == true {}
    }

    func stopPublishing() {
        if let psm { manager?.unpublishL2CAPChannel(psm) }
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        let service = CBMutableService(type: Self.service, primary: true)
        service.characteristics = [characteristic]
        peripheral.add(service)
        peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
        if publishesChannel { peripheral.publishL2CAPChannel(withEncryption: false) }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {}

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        request.value = Data([1])
        answer(request, by: peripheral)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        if let first = requests.first { answer(first, by: peripheral) }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        psm = PSM
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        self.channel = channel
    }

    private func answer(_ request: CBATTRequest, by manager: CBPeripheralManager) {
        switch manners {
        case .answers: manager.respond(to: request, withResult: .success)
        case .refuses: manager.respond(to: request, withResult: .insufficientAuthorization)
        case .staysSilent: break
        }
    }
}
