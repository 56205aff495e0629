import CoreBluetooth

/// What one consumer of a scan wants to hear of.
struct ScanFilter: Hashable, Sendable {
    /// All devices if empty.
    var services: Set<CBUUID>
    var solicited: Set<CBUUID>
    var allowsDuplicates: Bool

    /// The one scan that serves all; nil if there are none.
    static func merged(_ filters: some Sequence<ScanFilter>) -> ScanFilter? {
        var merged: ScanFilter?
        for filter in filters {
            guard var all = merged else {
                merged = filter
                continue
            }
            let isWide = all.isOpen || filter.isOpen
            all.services = isWide ? [] : all.services.union(filter.services)
            all.solicited.formUnion(filter.solicited)
            all.allowsDuplicates = all.allowsDuplicates || filter.allowsDuplicates
            merged = all
        }
        return merged
    }

    /// Whether every device matches.
    private var isOpen: Bool { services.isEmpty && solicited.isEmpty }

    /// Whether a device is one of those that are looked for.
    func matches(_ data: AdvertisedData) -> Bool {
        isOpen || !services.isDisjoint(with: data.serviceUUIDs)
            || !services.isDisjoint(with: data.overflowServiceUUIDs)
            || !solicited.isDisjoint(with: data.solicitedServiceUUIDs)
    }

    /// What errors say of the scan.
    var context: BluetoothError.Context {
        let all = services.union(solicited)
        return BluetoothError.Context(
            .scan, path: all.isEmpty ? nil : Self.sorted(all).map(\.uuidString).joined(separator: ", "))
    }

    /// As CoreBluetooth takes them.
    var uuids: [CBUUID]? { services.isEmpty ? nil : Self.sorted(services) }

    /// As CoreBluetooth takes them.
    var options: [String: Any] {
        var options: [String: Any] = [CBCentralManagerScanOptionAllowDuplicatesKey: allowsDuplicates]
        if !solicited.isEmpty {
            options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] = Self.sorted(solicited)
        }
        return options
    }

    /// In an order that does not change from run to run.
    private static func sorted(_ uuids: Set<CBUUID>) -> [CBUUID] { uuids.sorted { $0.uuidString < $1.uuidString } }
}
