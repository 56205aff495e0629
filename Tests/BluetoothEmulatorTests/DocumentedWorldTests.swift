import BluetoothEmulator
import Foundation
import Testing

/// The world files that the documentation shows can be loaded.
@Suite struct DocumentedWorldTests {
    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "../../Sources/CoreBluetoothPackage/CoreBluetoothPackage.docc/WorldFiles.md")

    @Test func eachWorldOnThePageIsValid() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let blocks = text.components(separatedBy: "<!-- sample: world -->\n```json\n").dropFirst()
        #expect(!blocks.isEmpty)
        for block in blocks {
            let end = try #require(block.range(of: "\n```"))
            let world = try WorldDescription(json: Data(block[..<end.lowerBound].utf8))
            #expect(!world.devices.isEmpty)
        }
    }
}
