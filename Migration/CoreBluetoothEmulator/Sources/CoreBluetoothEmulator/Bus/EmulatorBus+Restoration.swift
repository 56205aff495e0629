public import CoreBluetooth

/// State restoration, while ``EmulatorConfiguration/stateRestorationEnabled``.
extension EmulatorBus {
    /// The preserved state of a central manager.
    public struct RestoredCentralState: Codable, Sendable {
        /// The identifier of the manager.
        public var centralIdentifier: UUID
        /// The peripherals to which the manager was connected, or was connecting.
        public var connectedPeripheralIdentifiers: [UUID]
        /// The services that the manager scanned for; nil if it did not scan, or scanned for all.
        public var scanServices: [Data]?

        /// Creates the preserved state of a central manager.
        public init(centralIdentifier: UUID, connectedPeripheralIdentifiers: [UUID], scanServices: [Data]? = nil) {
            self.centralIdentifier = centralIdentifier
            self.connectedPeripheralIdentifiers = connectedPeripheralIdentifiers
            self.scanServices = scanServices
        }
    }

    /// The preserved state of a peripheral manager.
    public struct RestoredPeripheralState: Codable, Sendable {
        /// The identifier of the manager.
        public var peripheralIdentifier: UUID
        /// Whether the manager advertised.
        public var isAdvertising: Bool
        /// The advertisement: text in UTF-8, bytes unchanged, other values as the JSON of a ``CodableValue``.
        public var advertisementData: [String: Data]

        /// Creates the preserved state of a peripheral manager.
        public init(peripheralIdentifier: UUID, isAdvertising: Bool, advertisementData: [String: Data]) {
            self.peripheralIdentifier = peripheralIdentifier
            self.isAdvertising = isAdvertising
            self.advertisementData = advertisementData
        }
    }

    /// Saves the links and the scan of a central manager for the next one with the restore identifier, and its
    /// ``RestoredCentralState`` under that identifier.
    ///
    /// The links stay up until that manager is created. It gets the identifier of this one, since it is on the same
    /// phone.
    ///
    /// - Throws: `CBError.unknownDevice` for an unknown manager.
    public func saveCentralState(centralIdentifier: UUID, restoreIdentifier: String) async throws {
        let world = world
        guard let central = world.central(centralIdentifier) else { throw CBError(.unknownDevice) }
        let connected = central.peripherals.filter { [.connected, .connecting].contains($0.state) }
        let services = central.isScanning ? central.fields.withLock { $0.scan.parameters.services } : nil
        try saveStateForRestoration(
            identifier: restoreIdentifier,
            state: RestoredCentralState(
                centralIdentifier: centralIdentifier,
                connectedPeripheralIdentifiers: connected.map(\.identifier).sorted { $0.uuidString < $1.uuidString },
                scanServices: services?.map { Data($0.bigEndianBytes) }))
        world.save(central, for: restoreIdentifier)
    }

    /// Saves the services and the advertisement of a peripheral manager for the next one with the restore identifier,
    /// and its ``RestoredPeripheralState`` under that identifier.
    ///
    /// That manager gets the identifier of this one if this one is gone; otherwise it is a different peripheral.
    ///
    /// - Throws: `CBError.unknownDevice` for an unknown manager.
    public func savePeripheralState(peripheralIdentifier: UUID, restoreIdentifier: String) async throws {
        let world = world
        guard let peripheral = world.peripheral(peripheralIdentifier) else { throw CBError(.unknownDevice) }
        let data = peripheral.isAdvertising ? peripheral.advertisement?.data ?? [:] : [:]
        try saveStateForRestoration(
            identifier: restoreIdentifier,
            state: RestoredPeripheralState(
                peripheralIdentifier: peripheralIdentifier, isAdvertising: peripheral.isAdvertising,
                advertisementData: try data.toCodable().mapValues { try $0.preservedBytes }))
        world.save(peripheral, for: restoreIdentifier)
    }

    /// Saves a value of the test under an identifier, replacing an earlier one.
    ///
    /// A ``RestoredCentralState`` or a ``RestoredPeripheralState`` under a restore identifier is restored by the next
    /// manager with it: links to living peripheral managers and the scan, or the advertisement.
    ///
    /// - Throws: `EncodingError`.
    public func saveStateForRestoration<T: Codable>(identifier: String, state: T) throws {
        let document = try JSONEncoder().encode(state)
        world.state.withLock { $0.restoration.save(document, as: identifier) }
    }

    /// Returns the value that was preserved under an identifier; nil without one.
    ///
    /// - Throws: `DecodingError` if it has another type.
    public func restoreState<T: Codable>(identifier: String, as type: T.Type) throws -> T? {
        guard let document = world.state.withLock({ $0.restoration.documents[identifier] }) else { return nil }
        return try JSONDecoder().decode(type, from: document)
    }
}
