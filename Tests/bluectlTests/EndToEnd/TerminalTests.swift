#if Emulator && os(Linux)
import ChildProcesses
import Foundation
import Testing

@testable import bluectl

/// The built tool on a pseudo-terminal.
struct TerminalTests {
    @Test func aTerminalShowsATableThatIsRedrawnInPlace() async throws {
        let screen = try await Terminal.run(["scan", "--backend", "emulator", "--duration", "1.5"])
        #expect(screen.status == 0)
        #expect(screen.text.contains("\u{1B}[1mNAME"))
        #expect(screen.text.contains("Heart Rate Monitor  C0:DE:00:00:18:0D"))
        // The cursor moves up over the earlier output: the head, three devices and the last line.
        #expect(screen.text.contains("\u{1B}[5A\r"))
        #expect(!screen.text.contains("\t"))
    }

    @Test func noColorLeavesTheTableWithoutColors() async throws {
        let screen = try await Terminal.run(
            ["scan", "--backend", "emulator", "--duration", "1"], environment: ["NO_COLOR": "1"])
        #expect(screen.status == 0)
        #expect(screen.text.contains("NAME"))
        #expect(!screen.text.contains("\u{1B}[1m"))
        #expect(!screen.text.contains("\u{1B}[2m"))
    }

    @Test func longStepsShowTheirProgress() async throws {
        let screen = try await Terminal.run(["read", "C0:DE:00:00:18:0D", "2A19", "--backend", "emulator"])
        #expect(screen.status == 0)
        #expect(screen.text.contains("\r\u{1B}[KConnecting to Heart Rate Monitor…"))
        #expect(screen.text.contains("\r\u{1B}[KDiscovering Battery 180F… 2/3"))
        #expect(screen.text.hasSuffix("Battery Level 2A19: \u{1B}[36m57 (87 %)\u{1B}[0m\r\n"))
    }

    @Test func theShellEditsCompletesAndRemembersLines() async throws {
        let state = FileManager.default.temporaryDirectory.appendingPathComponent("bluectl-\(UUID().uuidString)")
        // The prompt of an empty line; before it the terminal does not pass single keys on.
        let prompt = "bluectl> \u{1B}[K\r\u{1B}[9C"
        let screen = try await Terminal.run(
            ["shell", "--backend", "emulator"], environment: ["XDG_STATE_HOME": state.path],
            typing: [
                // Ctrl-C discards the line, Tab completes, and the left arrow corrects.
                (prompt, "nonsense\u{3}"), (prompt, "conn\tEhco\u{1B}[D\u{1B}[D\u{7F}\u{1B}[Ch\r"),
                (prompt, "read . 0000ec41\t\r"), (prompt, "\u{1B}[A\r"), (prompt, "\u{4}"),
            ])
        #expect(screen.status == 0, "\(screen)")
        #expect(screen.text.contains("Connected to Echo (C0:DE:00:00:EC:40)"))
        let file = state.appendingPathComponent("bluectl/history")
        let history = try String(contentsOf: file, encoding: .utf8)
        #expect(history == "connect Echo\nread . 0000EC41-7A3D-4C5B-9E1F-2B6A8D4C0F01 \n")
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try FileManager.default.removeItem(at: state)
    }

    @Test func jsonOnATerminalHasNoEscapes() async throws {
        let screen = try await Terminal.run(["read", "C0:DE:00:00:18:0D", "2A19", "--backend", "emulator", "--json"])
        #expect(screen.status == 0)
        #expect(!screen.text.contains("\u{1B}"))
    }
}

/// The runs of the tool with a pseudo-terminal of 100 columns for both outputs.
private enum Terminal {
    struct Screen: Sendable {
        var status: Int32
        var text: String
    }

    /// - Parameter typing: Keys, each typed once the text before it has arrived after the previous keys.
    static func run(
        _ arguments: [String], environment: [String: String] = [:], typing: [(after: String, keys: String)] = []
    ) async throws -> Screen {
        try await ChildProcess.onThread { try wait(arguments, environment: environment, typing) }
    }

    private static func wait(
        _ arguments: [String], environment: [String: String], _ typing: [(after: String, keys: String)]
    ) throws -> Screen {
        // TIOCSPTLCK and TIOCGPTN of linux/ioctl.h: the names are macros that Swift does not see.
        let (unlock, number): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var isLocked: Int32 = 0
        var index: Int32 = 0
        guard master >= 0, ioctl(master, unlock, &isLocked) == 0, ioctl(master, number, &index) == 0 else {
            throw POSIXError(.ENODEV)
        }
        let slave = open("/dev/pts/\(index)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw POSIXError(.ENODEV) }
        var size = winsize(ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0)
        guard ioctl(slave, UInt(TIOCSWINSZ), &size) == 0 else { throw POSIXError(.ENODEV) }
        let terminal = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
        let process = try ChildProcess(
            Tool.path, arguments,
            environment: Tool.environment.merging(["TERM": "xterm"]) { $1 }.merging(environment) { $1 },
            input: typing.isEmpty ? nil : terminal, output: terminal, errors: terminal)
        try terminal.close()
        // Reading fails once the tool, the last user of the other end, has ended.
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 4096)
        var typing = typing[...]
        var seen = 0
        while case let count = read(master, &buffer, buffer.count), count > 0 {
            bytes += buffer.prefix(count)
            guard let next = typing.first,
                let found = bytes[seen...].firstRange(of: Data(next.after.utf8))
            else { continue }
            seen = found.upperBound
            typing = typing.dropFirst()
            let keys = Array(next.keys.utf8)
            guard write(master, keys, keys.count) == keys.count else { throw POSIXError(.EIO) }
        }
        close(master)
        return Screen(status: process.wait(), text: String(decoding: bytes, as: UTF8.self))
    }
}
#endif
