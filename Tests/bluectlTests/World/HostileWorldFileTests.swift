#if Emulator
import BluetoothEmulator
import BluetoothSupport
import Foundation
import Testing

@testable import bluectl

/// World files in YAML with changed characters and lines: one line about a mistake, or a world.
///
/// 300 of them run, or as many as fit in `FUZZ_SECONDS`, from the seed `FUZZ_SEED` on: `make fuzz`.
@Suite struct HostileWorldFileTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let firstSeed = environment["FUZZ_SEED"].flatMap { UInt64($0) } ?? 1
    private static let time = environment["FUZZ_SECONDS"].flatMap { Double($0) }.map { Duration.seconds($0) }
    private static let file = WorldFile(path: "/nonexistent/w.yaml")

    private static let original = """
        seed: 7
        preset: slow
        hosts: [{name: desk, powered: false}]
        devices:
          - &tag
            name: Tag
            address: C0:DE:00:00:18:09
            advertising:
              - data: {localName: Tag, services: [1809], serviceData: {1809: 0a0b}, txPowerLevel: -4}
                interval: 200ms
            services:
              - uuid: 1809
                characteristics:
                  - {uuid: 2A1C, properties: [indicate], timer: {interval: 2 s, values: [01, "02"]}}
                  - uuid: 2A6E
                    properties: [read, write]
                    value: 0900
                    descriptors:
                      - {uuid: 2901, value: 41}
          - {name: Other, rssi: -70, count: 3}
        script:
          - {at: 5 s, device: Tag, proximity: outOfRange}
          - {at: 6 s, device: Tag, reset: true}
          - {at: 7 s, host: desk, resetting: 2 s}
          - {at: 8 s, interference: 0.3}
        """

    @Test func aChangedFileIsOneLineAboutItsMistakeOrAWorld() throws {
        let start = ContinuousClock.now
        var (count, worlds) = (0, 0)
        while Self.time.map({ ContinuousClock.now - start < $0 }) ?? (count < 300) {
            let seed = Self.firstSeed + UInt64(count)
            var changes = TextChanges(Self.original, seed: seed)
            let text = changes.next()
            if try Self.isWorld(text, seed) { worlds += 1 }
            count += 1
        }
        print("\(count) world files, \(worlds) of them without a mistake")
        #expect(worlds > 0 && worlds < count)
    }

    /// Returns whether the text is a world; the message about a mistake is one line.
    private static func isWorld(_ text: String, _ seed: UInt64) throws -> Bool {
        do throws(Failure) {
            let contents = try file.contents(of: text)
            let mistakes = contents.mistakes()
            do throws(Failure) {
                let world = try contents.description()
                #expect(mistakes.isEmpty, "FUZZ_SEED=\(seed)")
                return try isReadAsWritten(world, seed)
            } catch {
                #expect(!mistakes.isEmpty, "FUZZ_SEED=\(seed): \(error)")
                throw error
            }
        } catch {
            #expect(error.status == .usage, "FUZZ_SEED=\(seed)")
            #expect(!error.description.contains("\n"), "FUZZ_SEED=\(seed): \(error)")
            return false
        }
    }

    private static func isReadAsWritten(_ world: WorldDescription, _ seed: UInt64) throws(Failure) -> Bool {
        do {
            #expect(try WorldDescription(json: world.json()) == world, "FUZZ_SEED=\(seed)")
        } catch {
            Issue.record("FUZZ_SEED=\(seed): what was written cannot be read: \(error)")
        }
        return true
    }
}

/// Changes of a text, from a seed.
private struct TextChanges {
    private static let pieces = [
        "", "-1", "0", "1e999", "99999999999999999999", "null", "~", "true", "[]", "{}", "[", "}", "&a", "*a", "*tag",
        "<<: *tag", "!!str", "? ", "|", ">", "'", "\"", "#", ":", ", ", "- ", "\t", "\u{0}", "\u{1F4A9}", "---\n",
        "...\n",
        "include: [x.yaml]", "0x7F", "1h", "FFFFFFFF", "uuid", "name", "count: 100000",
    ]

    private var lines: [String]
    private var random: SeededGenerator

    init(_ text: String, seed: UInt64) {
        lines = text.split(separator: "\n").map(String.init)
        random = SeededGenerator(seed: seed, stream: "worlds")
    }

    /// Returns the text with one to four more changes.
    mutating func next() -> String {
        for _ in 0...random.below(4) { change() }
        return lines.joined(separator: "\n")
    }

    private mutating func below(_ count: Int) -> Int { Int(random.below(UInt64(max(1, count)))) }

    private mutating func change() {
        guard !lines.isEmpty else { return lines = [Self.pieces[below(Self.pieces.count)]] }
        let index = below(lines.count)
        switch below(6) {
        case 0: lines.remove(at: index)
        case 1: lines.insert(lines[below(lines.count)], at: index)
        case 2: lines.swapAt(index, below(lines.count))
        case 3: lines[index] = below(2) == 0 ? " " + lines[index] : String(lines[index].dropFirst(1 + below(3)))
        default: replacePart(of: index)
        }
    }

    private mutating func replacePart(of index: Int) {
        let line = lines[index]
        let start = line.index(line.startIndex, offsetBy: below(line.count + 1))
        let end = line.index(start, offsetBy: below(6), limitedBy: line.endIndex) ?? line.endIndex
        lines[index].replaceSubrange(start..<end, with: Self.pieces[below(Self.pieces.count)])
    }
}
#endif
