import ArgumentParser
import AsyncBluetooth
import BluetoothBackend
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
        let tree = GATTTree(palette: role.console.palette, columns: StandardStream.output.size?.columns)
        role.console.show(record.fields, tree.lines(record))
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
            properties: characteristic.properties.backendProperties.names)
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
    /// The columns of the terminal; nil if the output goes elsewhere, where lines may have any length.
    var columns: Int?

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
        let descriptors = record.descriptors ?? []
        return content(of: record, below: indent + (descriptors.isEmpty ? "" : "│"), from: indent.count)
            + branch(descriptors, indent: indent, attribute)
    }

    private func head(of record: GATTRecord.Attribute) -> String {
        let handle = record.handle.map { palette.dim(" @0x" + Decimals.hex($0, width: 4)) } ?? ""
        let words = record.properties.map { names in
            CharacteristicProperties.namesAndWords.filter { names.contains($0.name) }.map(\.words)
                .joined(separator: ", ")
        }
        let head = [AttributeText.label(record.uuid) + handle, words.map { palette.dim($0) } ?? ""]
        return head.filter { !$0.isEmpty }.joined(separator: "  ")
    }

    /// Returns an attribute with its value, whose further lines are under its first one.
    ///
    /// A value that would begin too far to the right is under the name.
    private func content(of record: GATTRecord.Attribute, below bars: String, from column: Int) -> [String] {
        let head = head(of: record)
        guard let (mark, text, style) = value(of: record) else { return [head] }
        let plain = GATTTree(palette: Palette(isTerminal: false, environment: [:])).head(of: record)
        var start = column + PrintableText.columns(plain + mark) + 1
        guard let columns, start + PrintableText.columns(text) > columns else {
            return [head + mark + " " + style(text)]
        }
        let isFarRight = columns - start < 24
        if isFarRight { start = column + 3 }
        // An even number, so that no byte in hex is divided.
        let lines = PrintableText.wrapped(text, to: max(8, (columns - start) & ~1))
        let margin = palette.dim(bars) + String(repeating: " ", count: start - bars.count)
        return isFarRight
            ? [mark == " " ? head : head + mark] + lines.map { margin + style($0) }
            : [head + mark + " " + style(lines[0])] + lines.dropFirst().map { margin + style($0) }
    }

    /// Returns what precedes a value or the reason that it is missing, the text itself, and its color.
    private func value(of record: GATTRecord.Attribute) -> (mark: String, text: String, style: (String) -> String)? {
        if let failure = record.failure { return (" ", "! " + failure, palette.bad) }
        guard let hex = record.value else { return nil }
        do throws(Failure) {
            return (" =", AttributeText.value(try HexText.data(hex), of: record.uuid), palette.value)
        } catch {
            return (" =", PrintableText.of(hex), { $0 })
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
