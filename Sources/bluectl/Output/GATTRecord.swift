import Foundation

/// A device's attributes, as `explore` lists them.
struct GATTRecord: Encodable, Equatable, Sendable {
    struct Service: Encodable, Equatable, Sendable {
        var uuid: String
        var isPrimary: Bool
        var characteristics: [Characteristic]
    }

    struct Characteristic: Encodable, Equatable, Sendable {
        var uuid: String
        var handle: Int?
        var properties: [String]
        var value: String?
        var descriptors: [Descriptor]
        /// Why there is no value; for people only.
        var failure: String?

        private enum CodingKeys: String, CodingKey { case uuid, handle, properties, value, descriptors }
    }

    struct Descriptor: Encodable, Equatable, Sendable {
        var uuid: String
        var handle: Int?
        var value: String?
        /// Why there is no value; for people only.
        var failure: String?

        private enum CodingKeys: String, CodingKey { case uuid, handle, value }
    }

    var identifier: String
    /// For people only.
    var address: String?
    var name: String?
    var mtu: Int
    var services: [Service]
    /// Only where the radio is not a real one.
    var backend: String?

    private enum CodingKeys: String, CodingKey { case identifier, name, mtu, services, backend }
}
