import BluetoothHCI
import BluetoothSupport
import ChildProcesses
import Foundation
import Testing

@testable import BluetoothCapture

/// The containers, byte by byte, and files that cannot be written.
@Suite struct CaptureFileTests {
    private let host = CapturedHost(name: "default", address: HCIAddress(bits: 0x0011_2233_4455, isRandom: false))
    private let packet = CapturedPacket(
        host: 0, time: 0x1_0000_0002_000, packet: .readAddress, comment: "hm")

    private func hex(_ bytes: [UInt8]) -> String { Data(bytes).hexText.lowercased() }

    @Test func theNameOfAFileDecidesOnItsFormat() {
        #expect(
            CaptureFormat(fileName: "a.btsnoop") == .btsnoop
                && CaptureFormat(fileName: "/x/btsnoop_hci.LOG") == .btsnoop)
        #expect(CaptureFormat(fileName: "a.pcapng") == .pcapng && CaptureFormat(fileName: "btsnoop") == .pcapng)
    }

    @Test func pcapngHasASectionAnInterfaceForEachHostAndPacketsWithDirectionAndComment() {
        var encoder = PcapngEncoder(comment: "seed 7")
        #expect(
            hex(encoder.header)
                == "0a0d0d0a44000000" + "4d3c2b1a01000000ffffffffffffffff" + "0100060073656564203700" + "00"
                + "0400130073776966742d636f7265626c7565746f6f746800" + "00000000" + "44000000")
        #expect(
            hex(encoder.encode(.host(host)))
                == "0100000044000000" + "c900000000000000" + "0200070064656661756c7400"
                + "0300110030303a31313a32323a33333a34343a3535000000" + "0900010009000000" + "00000000" + "44000000")
        #expect(encoder.encode(.note("lost", at: 0)).isEmpty, "notes wait for the next packet")
        #expect(
            hex(encoder.encode(.packet(packet)))
                == "0600000040000000" + "00000000" + "00100000" + "00200000" + "0800000008000000" + "0000000001091000"
                + "010007006c6f73740a686d00" + "0200040002000000" + "00000000" + "40000000")
        #expect(encoder.end(at: 1).isEmpty)
        for number in 0..<52 { #expect(encoder.encode(.note("\(number)", at: 0)).isEmpty) }
        let end = encoder.end(at: 1)
        #expect(hex(end).hasPrefix("05000000"))
        #expect(String(decoding: end, as: UTF8.self).contains("49\n2 more notes"))
    }

    @Test func btsnoopHasAdaptersOpcodesAndALog() {
        var encoder = BTSnoopEncoder()
        #expect(hex(encoder.header) == "6274736e6f6f700000000001000007d1")
        #expect(encoder.encode(.host(host)).isEmpty, "an adapter appears with the first record")
        let bytes = encoder.encode(.packet(CapturedPacket(host: 0, time: 1_000_000_000, packet: .readAddress)))
        let time = String(0x00DC_DDB3_0F2F_8000 + 1_000_000, radix: 16)
        #expect(
            hex(bytes)
                == "0000001000000010" + "0000000000000000" + "00" + time + "0000554433221100" + "6863693000000000"
                + "0000000000000000" + "0000000800000000" + "00" + time
                + "0000000800000008" + "0000000a00000000" + "00" + time + "554433221100ffff"
                + "0000000300000003" + "0000000200000000" + "00" + time + "091000")
        #expect(hex(encoder.encode(.note("lost", at: 0))).contains("ffff000d"))
    }

    // MARK: Files

    @Test func aFileIsOfTheUserAloneAndReplacesOneOfItsName() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).pcapng").path
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: file) } }
        let capture = try CaptureFile(file, comment: "one")
        capture.write([.host(host), .packet(packet)])
        #expect(capture.packetCount == 1)
        capture.close()
        let first = try Data(contentsOf: URL(fileURLWithPath: file))
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        // Nothing is written to a capture that has ended.
        capture.write([.packet(packet)])
        capture.flush()
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == first)
        try CaptureFile(file, comment: "one").close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)).count < first.count)
    }

    @Test func aCaptureTakesNeitherTheModeOfAnOlderFileNorTheWayOfALink() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).pcapng").path
        try Data("old".utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        try CaptureFile(file, comment: "").close()
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
        try FileManager.default.createSymbolicLink(atPath: file + ".link", withDestinationPath: file)
        let error = #expect(throws: CaptureError.self) { try CaptureFile(file + ".link", comment: "") }
        #expect(error?.reason == "a symbolic link to a file is not followed")
        for name in [file, file + ".link"] { try FileManager.default.removeItem(atPath: name) }
    }

    @Test func aFileThatCannotBeMadeIsAnErrorWithItsNameAndTheReason() {
        let error = #expect(throws: CaptureError.self) { try CaptureFile("/nowhere/air.pcapng", comment: "") }
        #expect(error?.description == "/nowhere/air.pcapng: No such file or directory")
    }

    #if os(Linux)
    @Test func aFullDiskEndsTheCaptureAndNotTheProgram() throws {
        let capture = try CaptureFile("/dev/full", comment: "")
        capture.write([.host(host), .packet(packet)])
        capture.flush()
        capture.write([.packet(packet)])
        #expect(capture.packetCount == 0, "the header could not be written")
    }

    @Test func aPipeWithoutAReaderIsRefusedAndOneThatIsClosedEndsTheCapture() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).fifo").path
        try #require(mkfifo(file, 0o600) == 0)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: file) } }
        let error = #expect(throws: CaptureError.self) { try CaptureFile(file, comment: "") }
        #expect(error?.reason == "no program reads this pipe")
        let reader = open(file, O_RDONLY | O_NONBLOCK)
        let capture = try CaptureFile(file, comment: "")
        capture.write([.host(host), .packet(packet)])
        capture.flush()
        var bytes = [UInt8](repeating: 0, count: 4_096)
        #expect(read(reader, &bytes, bytes.count) > 100)
        close(reader)
        capture.write([.packet(packet)])
        capture.flush()
        capture.write([.packet(packet)])
        #expect(capture.packetCount == 2, "the second one could not be written, the third is not counted")
    }
    #endif
}
