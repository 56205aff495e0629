#if os(Linux)
import Foundation
import Testing

@testable import bluectl

struct SystemFactsTests {
    private func withFolder(_ files: [String: String], _ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("facts-\(UUID().uuidString)")
        for (path, content) in files {
            let file = folder.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try content.write(to: file, atomically: true, encoding: .utf8)
        }
        try body(folder.path)
        try FileManager.default.removeItem(at: folder)
    }

    @Test func onlySwitchesOfBluetoothCount() throws {
        let files = [
            "rfkill0/type": "wlan\n", "rfkill0/name": "phy0\n", "rfkill0/soft": "1\n", "rfkill0/hard": "1\n",
            "rfkill1/type": "bluetooth\n", "rfkill1/name": "hci0\n", "rfkill1/soft": "1\n", "rfkill1/hard": "0\n",
        ]
        try withFolder(files) { folder in
            #expect(
                SystemFacts.switches(in: folder) == [
                    SystemReport.KillSwitch(name: "hci0", isSoftBlocked: true, isHardBlocked: false)
                ])
        }
    }

    @Test func linksAreNoControllers() throws {
        try withFolder(["hci1/address": "", "hci0/address": "", "hci0:64/address": ""]) { folder in
            #expect(SystemFacts.controllers(in: folder) == ["hci0", "hci1"])
        }
    }

    @Test func aSystemWithoutTheFoldersHasNone() {
        #expect(SystemFacts.switches(in: "/nonexistent").isEmpty)
        #expect(SystemFacts.controllers(in: "/nonexistent").isEmpty)
    }
}
#endif
