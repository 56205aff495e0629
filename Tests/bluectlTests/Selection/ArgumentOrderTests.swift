import Testing

@testable import bluectl

struct ArgumentOrderTests {
    @Test(arguments: [
        (["scan", "--json"], ["scan", "--json"]),
        (["--json", "scan"], ["scan", "--json"]),
        (
            ["--backend", "emulator", "--timeout=3", "read", "Echo", "2A19"],
            ["read", "--backend", "emulator", "--timeout=3", "Echo", "2A19"]
        ),
        (["--world", "scan", "scan"], ["scan", "--world", "scan"]),
        (["--json", "--verbose", "scan", "--duration", "1"], ["scan", "--json", "--verbose", "--duration", "1"]),
    ])
    func commonOptionsBeforeTheCommandMoveBehindIt(given: [String], expected: [String]) {
        #expect(ArgumentOrder.commandFirst(given) == expected)
    }

    @Test(arguments: [["--help"], ["--version"], [], ["--nonsense", "scan"], ["--backend"], ["--", "scan"]])
    func argumentsWithoutACommandStayAsTheyAre(given: [String]) {
        #expect(ArgumentOrder.commandFirst(given) == given)
    }

    @Test func helpLosesTheOptionsBeforeIt() {
        #expect(ArgumentOrder.commandFirst(["--json", "help", "scan"]) == ["help", "scan"])
        #expect(ArgumentOrder.commandFirst(["--json", "--help"]) == ["--help"])
    }
}
