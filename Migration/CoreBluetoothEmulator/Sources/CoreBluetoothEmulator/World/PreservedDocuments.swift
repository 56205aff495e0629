import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth
import Foundation

/// The states that a test wrote itself, with `saveStateForRestoration`, for the next manager with the identifier.
extension EmulatedWorld {
    /// Returns the restored state of a central manager: links to the named peripheral managers, and the scan.
    func documentedCentral(_ restoreIdentifier: String, in emulator: EmulatorBackend) -> PreservedCentral? {
        guard let document = document(EmulatorBus.RestoredCentralState.self, restoreIdentifier) else { return nil }
        let host = makePlace("central", in: emulator).host
        let peers = document.connectedPeripheralIdentifiers.compactMap { identifier -> PeerID? in
            guard let server = peripheral(identifier)?.place.host else { return nil }
            if let device = server.peripheral { host.connectOtherApp(to: device, withoutAdvertising: true) }
            return server.identifier(onHost: host.name)
        }
        let scan = document.scanServices.map { services in
            ScanParameters(services: services.compactMap { BluetoothUUID(bigEndian: $0) })
        }
        return PreservedCentral(identifier: document.centralIdentifier, host, peers, scan: scan)
    }

    /// Returns the restored state of a peripheral manager: its advertisement.
    func documentedPeripheral(_ restoreIdentifier: String) -> PreservedPeripheral? {
        guard let document = document(EmulatorBus.RestoredPeripheralState.self, restoreIdentifier) else { return nil }
        var data: [String: CodableValue] = [:]
        for (key, bytes) in document.advertisementData { data[key] = CodableValue(preservedBytes: bytes, key: key) }
        let advertisement = EmulatedAdvertisement(data.toAny(), number: nextAdvertisement(), configuration) {
            makeNumber(in: EmulatedAdvertisement.txPowers)
        }
        return PreservedPeripheral(
            identifier: document.peripheralIdentifier, document.isAdvertising ? advertisement : nil)
    }

    /// Takes a document of a type, once.
    private func document<Document: Decodable>(_ type: Document.Type, _ identifier: String) -> Document? {
        guard let bytes = state.withLock({ $0.restoration.takeDocument(identifier) }) else { return nil }
        do {
            return try JSONDecoder().decode(type, from: bytes)
        } catch {
            logWarning("nothing is restored from what was preserved as \"\(identifier)\": \(error)")
            return nil
        }
    }
}

extension CodableValue {
    /// The bytes of ``EmulatorBus/RestoredPeripheralState/advertisementData``: text in UTF-8, bytes unchanged, other
    /// values as JSON.
    var preservedBytes: Data {
        get throws {
            switch self {
            case .string(let text): Data(text.utf8)
            case .data(let bytes): bytes
            default: try JSONEncoder().encode(self)
            }
        }
    }

    /// Reads a value under its key; bytes that are not the JSON of a value are text under the key of the name, and
    /// bytes under others.
    init(preservedBytes: Data, key: String) {
        do {
            self = try JSONDecoder().decode(CodableValue.self, from: preservedBytes)
        } catch is DecodingError {
            self =
                key == CBAdvertisementDataLocalNameKey
                ? .string(String(decoding: preservedBytes, as: UTF8.self)) : .data(preservedBytes)
        } catch {
            self = .data(preservedBytes)
        }
    }
}
