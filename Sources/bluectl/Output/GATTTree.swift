import BluetoothProfiles
import Foundation

/// A device's attributes as a tree of lines.
struct GATTTree {
    let palette: Palette

    /// The lines, the device first.
    func lines(_ record: GATTRecord) -> [String] {
        let name = record.name.map { palette.strong(PrintableText.of($0)) }
        let identity = [name, record.address, palette.dim(record.identifier), "MTU \(record.mtu)"]
        return [identity.compactMap { $0 }.joined(separator: "  ")]
            + branch(record.services, indent: "") { service, indent in
                let kind = service.isPrimary ? "" : palette.dim("  secondary")
                return [palette.strong(AttributeText.label(service.uuid)) + kind]
                    + branch(service.characteristics, indent: indent, characteristic)
            }
    }

    private func characteristic(_ record: GATTRecord.Characteristic, indent: String) -> [String] {
        let properties = palette.dim(record.properties.joined(separator: ", "))
        let head = [title(record.uuid, record.handle), properties].filter { !$0.isEmpty }.joined(separator: "  ")
        return [head + content(record.value, of: record.uuid, record.failure)]
            + branch(record.descriptors, indent: indent) { descriptor, _ in
                [
                    title(descriptor.uuid, descriptor.handle)
                        + content(descriptor.value, of: descriptor.uuid, descriptor.failure)
                ]
            }
    }

    private func title(_ uuid: String, _ handle: Int?) -> String {
        let handle = handle.map { palette.dim(" @0x" + Decimals.hex($0, width: 4)) } ?? ""
        return AttributeText.label(uuid) + handle
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

    /// Each item's lines below a line of the tree.
    private func branch<Item>(_ items: [Item], indent: String, _ body: (Item, String) -> [String]) -> [String] {
        items.enumerated().flatMap { index, item in
            let isLast = index == items.count - 1
            let lines = body(item, indent + (isLast ? "   " : "│  "))
            let head = lines.prefix(1).map { palette.dim(indent + (isLast ? "└─ " : "├─ ")) + $0 }
            return head + lines.dropFirst()
        }
    }
}
