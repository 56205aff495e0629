import CFuzzer
import Foundation

@testable import BluetoothEmulator

/// Reads the text of a world file: its mistakes are listed, the first of them is the error, and each has a rule;
/// without a mistake it is a world that can be created, and that is written and read as the same.
func run(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = bytes.map { Data(bytes: $0, count: count) } ?? Data()
    let files: WorldFiles
    do {
        files = try WorldFiles("/nonexistent/world.json", text: text, format: .json(root: "world.json"))
    } catch {
        precondition(!"\(error)".isEmpty)
        return 0
    }
    let mistakes = files.allMistakes()
    precondition(mistakes.allSatisfy { !$0.rule.isEmpty })
    do throws(DescriptionError) {
        let world = try files.world()
        precondition(mistakes.isEmpty, "\(mistakes)")
        check(world)
    } catch {
        precondition(!mistakes.isEmpty, "\(error)")
        precondition(!error.rule.isEmpty && !error.description.contains("\n"), "\(error)")
    }
    return 0
}

/// Checks that a world without a mistake can be written, read again and created.
func check(_ world: WorldDescription) {
    do {
        let again = try WorldDescription(json: world.json())
        precondition(again == world)
        _ = try Emulator(world: world, time: .virtual)
    } catch {
        preconditionFailure("a world without a mistake: \(error)")
    }
}

var (count, arguments) = (CommandLine.argc, Optional(CommandLine.unsafeArgv))
exit(LLVMFuzzerRunDriver(&count, &arguments, run))
