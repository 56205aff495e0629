/// Something that happens at a device that is served, as JSON.
///
/// Fields without a value are left out.
struct ServeRecord: Encodable, Equatable {
    /// `published`, `listening`, `advertising`, `read`, `write`, `subscribe`, `unsubscribe`, `notify`, `channel open`,
    /// `channel end`.
    var event: String
    var name: String?
    var services: [String]?
    /// What is advertised beside name and services.
    var manufacturerData: String?
    var serviceData: [String: String]?
    /// The identifier of the central.
    var central: String?
    var service: String?
    var characteristic: String?
    /// The first byte asked for, where that is not 0.
    var offset: Int?
    /// The bytes that were answered, written or sent, in hex.
    var value: String?
    /// The ATT error that the central got.
    var error: Int?
    /// The number of a channel.
    var psm: UInt16?
    /// How many bytes came over a channel.
    var bytes: Int?
    /// Only where the radio is not a real one.
    var backend: String?

    init(_ event: String, backend: String?) {
        self.event = event
        self.backend = backend
    }
}
