import BluetoothSupport
import Foundation
import Testing

/// A file that only its user can read, whatever was there before.
struct OutputFileTests {
    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("output-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try body(folder)
        try FileManager.default.removeItem(at: folder)
    }

    private func mode(_ file: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    }

    @Test func anOlderFileIsReplacedWithItsModeAndItsReaders() throws {
        try withFolder { folder in
            let file = folder.appendingPathComponent("air.pcapng")
            try Data("old".utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file.path)
            let reader = try FileHandle(forReadingFrom: file)
            try OutputFile(file.path).write(Array("private".utf8))
            #expect(try mode(file) == 0o600)
            #expect(try reader.readToEnd() == Data("old".utf8))
            #expect(try Data(contentsOf: file) == Data("private".utf8))
        }
    }

    @Test func aSymbolicLinkToAFileIsRefusedAndTheFileStays() throws {
        try withFolder { folder in
            let (file, link) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("b"))
            try Data("old".utf8).write(to: file)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
            let error = #expect(throws: OutputFileError.self) { try OutputFile(link.path) }
            #expect(error?.reason == "a symbolic link to a file is not followed")
            #expect(try Data(contentsOf: file) == Data("old".utf8))
            try FileManager.default.removeItem(at: file)
            #expect(throws: OutputFileError.self) { try OutputFile(link.path) }
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
    }

    @Test func aLinkToADeviceIsFollowed() throws {
        try withFolder { folder in
            let link = folder.appendingPathComponent("null")
            try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "/dev/null")
            try OutputFile(link.path).write([1])
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "/dev/null")
        }
    }

    @Test func aWholeFileReplacesALinkAndNotItsFile() throws {
        try withFolder { folder in
            let (file, link) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("b"))
            try Data("old".utf8).write(to: file)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
            // A link at the temporary name is not followed either.
            try FileManager.default.createSymbolicLink(atPath: link.path + ".partial", withDestinationPath: "/dev/null")
            try OutputFile.replace(link.path, with: Array("new".utf8))
            #expect(try Data(contentsOf: file) == Data("old".utf8))
            #expect(try Data(contentsOf: link) == Data("new".utf8))
            #expect(try mode(link) == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["a", "b"])
        }
    }
}
