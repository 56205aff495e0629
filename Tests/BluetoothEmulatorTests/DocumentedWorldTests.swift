import BluetoothEmulator
import Foundation
import Testing

/// The world files in the documentation can be loaded.
@Suite struct DocumentedWorldTests {
    @Test(arguments: [Document("WorldFiles", of: "CoreBluetooth", in: "API"), Document("BuiltInDevices")])
    func eachWorldOnThePageIsValid(page: Document) throws {
        let text = try page.text()
        let blocks = text.components(separatedBy: "<!-- sample: world -->\n```json\n").dropFirst()
        #expect(!blocks.isEmpty)
        for block in blocks {
            let end = try #require(block.range(of: "\n```"))
            let world = try WorldDescription(json: Data(block[..<end.lowerBound].utf8))
            #expect(!world.devices.isEmpty)
        }
    }
}
