import ArgumentParser
import AsyncBluetooth
import BluetoothProfiles
import CoreBluetoothClasses
import Foundation

struct ExploreCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "explore",
        abstract: "Connect and print services, characteristics, descriptors and their values.",
        aliases: ["tree"])

    @Argument(help: DeviceQuery.help)
    var device: DeviceQuery

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in role: CentralRole) async throws {
        let peripheral = try await role.find(device)
        try await role.connect(peripheral)
        let services = try await role.discover(peripheral)
        var records: [GATTRecord.Service] = []
        let reader = ValueReader(role: role, peripheral: peripheral)
        for service in services { records.append(try await reader.record(of: service)) }
        let record = GATTRecord(
            identifier: peripheral.identifier.uuidString, address: peripheral.address, name: peripheral.name,
            mtu: peripheral.mtuLength, services: records)
        role.console.show(record.fields, GATTTree(palette: role.console.palette).lines(record))
    }
}

/// Reads the values of a device's services.
@MainActor
private struct ValueReader {
    let role: CentralRole
    let peripheral: Peripheral

    /// Returns a service with its readable values.
    func record(of service: DiscoveredService) async throws -> GATTRecord.Service {
        var characteristics: [GATTRecord.Attribute] = []
        for characteristic in service.characteristics {
            characteristics.append(try await record(of: characteristic))
        }
        return GATTRecord.Service(
            uuid: service.uuid.uuidString, isPrimary: service.isPrimary, characteristics: characteristics)
    }

    private func record(of characteristic: DiscoveredCharacteristic) async throws -> GATTRecord.Attribute {
        role.console.progress("Reading \(AttributeText.label(characteristic.uuid))…")
        let descriptors = try await role.descriptors(of: characteristic, at: peripheral)
        var record = GATTRecord.Attribute(
            uuid: characteristic.uuid.uuidString, handle: characteristic.handle,
            properties: AttributeText.properties(characteristic.properties))
        if characteristic.properties.contains(.read) {
            (record.value, record.failure) = try await outcome { try await role.read(characteristic, of: peripheral) }
        }
        var attributes: [GATTRecord.Attribute] = []
        for descriptor in descriptors {
            let (value, failure) = try await outcome { try await role.read(descriptor, of: peripheral) }
            attributes.append(
                GATTRecord.Attribute(
                    uuid: descriptor.uuid.uuidString, handle: descriptor.handle, value: value, failure: failure))
        }
        record.descriptors = attributes
        return record
    }

    /// Returns a value in hex, or the reason that the device refuses it.
    ///
    /// A link that is lost or silent ends the listing.
    private func outcome(
        of body: () async throws -> Data
    ) async throws -> (value: String?, failure: String?) {
        do {
            return (HexText.of(try await body()), nil)
        } catch let failure as Failure where failure.status == .failed && peripheral.state == .connected {
            return (nil, failure.description)
        }
    }
}

/// A device's attributes, as `explore` lists them.
struct GATTRecord {
    struct Service: Encodable {
        var uuid: String
        var isPrimary: Bool
        var characteristics: [Attribute]
    }

    /// A characteristic or, without properties and descriptors, a descriptor.
    struct Attribute: Encodable {
        var uuid: String
        var handle: UInt16?
        var properties: [String]?
        var value: String?
        var descriptors: [Attribute]?
        /// The reason that the value is missing; for people only.
        var failure: String?

        private enum CodingKeys: String, CodingKey { case uuid, handle, properties, value, descriptors }
    }

    var identifier: String
    var address: String?
    var name: String?
    var mtu: Int
    var services: [Service]

    var fields: JSONFields { ["identifier": identifier, "name": name, "mtu": mtu, "services": services] }
}

/// A device's attributes as a tree of lines.
struct GATTTree {
    let palette: Palette

    /// Returns the lines, the device first.
    func lines(_ record: GATTRecord) -> [String] {
        let name = record.name.map { palette.strong(PrintableText.of($0)) }
        let identity = [name, record.address, palette.dim(record.identifier), "MTU \(record.mtu)"]
        return [identity.compactMap { $0 }.joined(separator: "  ")]
            + branch(record.services, indent: "") { service, indent in
                let kind = service.isPrimary ? "" : palette.dim("  secondary")
                return [palette.strong(AttributeText.label(service.uuid)) + kind]
                    + branch(service.characteristics, indent: indent, attribute)
            }
    }

    private func attribute(_ record: GATTRecord.Attribute, indent: String) -> [String] {
        let handle = record.handle.map { palette.dim(" @0x" + Decimals.hex($0, width: 4)) } ?? ""
        let properties = record.properties.map { palette.dim($0.joined(separator: ", ")) } ?? ""
        let head = [AttributeText.label(record.uuid) + handle, properties].filter { !$0.isEmpty }
        return [head.joined(separator: "  ") + content(record.value, of: record.uuid, record.failure)]
            + branch(record.descriptors ?? [], indent: indent, attribute)
    }

    private func content(_ hex: String?, of uuid: String, _ failure: String?) -> String {
        if let failure { return "  " + palette.bad("! " + failure) }
        guard let hex else { return "" }
        do throws(Failure) {
            return " = " + palette.value(AttributeText.value(try HexText.data(hex), of: uuid))
        } catch {
            return " = " + PrintableText.of(hex)
        }
    }

    /// Returns each item's lines below a line of the tree.
    private func branch<Item>(_ items: [Item], indent: String, _ body: (Item, String) -> [String]) -> [String] {
        items.enumerated().flatMap { index, item in
            let isLast = index == items.count - 1
            let lines = body(item, indent + (isLast ? "   " : "│  "))
            let head = lines.prefix(1).map { palette.dim(indent + (isLast ? "└─ " : "├─ ")) + $0 }
            return head + lines.dropFirst()
        }
    }
}
