public import BluetoothBackend

/// What a host keeps of a central manager whose app the system ended: a part of a saved world.
///
/// The host goes on without the app: it connects to the peers, subscribes, and keeps that for the next manager with the
/// identifier, whose delegate gets it in `willRestoreState`.
public struct SavedCentral: Hashable, Sendable {
    /// A peer that is connected, or that the host goes on connecting to.
    public struct Peer: Hashable, Sendable {
        /// The device, by name or address.
        public var device: String
        /// The characteristics that the app subscribed to.
        public var subscriptions: [BluetoothUUID]

        /// A peer.
        public init(device: String, subscriptions: [BluetoothUUID] = []) {
            self.device = device
            self.subscriptions = subscriptions
        }
    }

    /// The manager's restore identifier.
    public var identifier: String
    /// The scan that was running.
    public var scan: ScanParameters?
    /// The peers.
    public var peers: [Peer]

    /// What a host keeps.
    public init(identifier: String, scan: ScanParameters? = nil, peers: [Peer] = []) {
        self.identifier = identifier
        self.scan = scan
        self.peers = peers
    }

    func validate(path: String, devices: [PeripheralDescription]?) throws(DescriptionError) {
        guard !identifier.isEmpty else { throw DescriptionError("\(path).identifier", "an identifier is not empty") }
        guard let devices else { return }
        for (index, peer) in peers.enumerated() {
            let device = devices.first { $0.name == peer.device || $0.effectiveAddress.description == peer.device }
            guard let device else {
                throw DescriptionError("\(path).peers[\(index)].device", "there is no device \"\(peer.device)\"")
            }
            let uuids = device.services.flatMap(\.characteristics).map(\.uuid)
            for uuid in peer.subscriptions where !uuids.contains(uuid) {
                throw DescriptionError(
                    "\(path).peers[\(index)].subscriptions", "\(peer.device) has no characteristic \(uuid)")
            }
        }
    }
}

extension SavedCentral: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case identifier, scan, peers
    }

    /// Reads what a host of a world file keeps.
    public init(from decoder: any Decoder) throws {
        let fields = try StrictContainer(decoder, keyedBy: CodingKeys.self)
        let scan: SavedScan? = try fields.optional(.scan)
        self.init(
            identifier: try fields.required(.identifier), scan: scan?.parameters,
            peers: try fields.optional(.peers) ?? [])
    }

    /// Writes what a host of a world file keeps.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(identifier, forKey: .identifier)
        try fields.encodeIfPresent(scan.map(SavedScan.init), forKey: .scan)
        if !peers.isEmpty { try fields.encode(peers, forKey: .peers) }
    }
}

extension SavedCentral.Peer: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case device, subscriptions
    }

    /// Reads a peer of a world file.
    public init(from decoder: any Decoder) throws {
        let fields = try StrictContainer(decoder, keyedBy: CodingKeys.self)
        self.init(
            device: try fields.required(.device), subscriptions: try fields.optional(.subscriptions) ?? [])
    }

    /// Writes a peer of a world file.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(device, forKey: .device)
        if !subscriptions.isEmpty { try fields.encode(subscriptions, forKey: .subscriptions) }
    }
}

/// A scan as world files write it.
struct SavedScan: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case services, solicitedServices, duplicates
    }

    let parameters: ScanParameters

    init(_ parameters: ScanParameters) { self.parameters = parameters }

    init(from decoder: any Decoder) throws {
        let fields = try StrictContainer(decoder, keyedBy: CodingKeys.self)
        parameters = ScanParameters(
            services: try fields.optional(.services), solicitedServices: try fields.optional(.solicitedServices) ?? [],
            allowDuplicates: try fields.optional(.duplicates) ?? false)
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encodeIfPresent(parameters.services, forKey: .services)
        if !parameters.solicitedServices.isEmpty {
            try fields.encode(parameters.solicitedServices, forKey: .solicitedServices)
        }
        if parameters.allowDuplicates { try fields.encode(true, forKey: .duplicates) }
    }
}
