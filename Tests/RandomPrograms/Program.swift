import BluetoothSupport

/// A seed, and the steps performed in the world with that seed.
public struct Program: Equatable, Sendable {
    /// The seed of the world's random decisions.
    public var seed: UInt64
    /// The index in ``ProgramWorld/configurations``.
    public var configuration: Int
    /// The steps, in order.
    public var steps: [ProgramStep]

    /// Creates a program.
    public init(seed: UInt64, configuration: Int, steps: [ProgramStep]) {
        self.seed = seed
        self.configuration = configuration
        self.steps = steps
    }

    /// The program as Swift code, to be pasted into a test.
    public var code: String {
        let lines = steps.map { "        \($0.code)," }.joined(separator: "\n")
        return """
            let program = Program(
                seed: \(seed), configuration: \(configuration),
                steps: [
            \(lines)
                ])
            #expect(try await ProgramRun(program).run().violations == [])
            """
    }

    /// Creates the random program of a seed.
    public init(randomFrom seed: UInt64, length: Int = 60) {
        var random = SeededGenerator(seed: seed, stream: "program")
        let configuration = random.below(4)
        var generator = ProgramGenerator()
        var steps: [ProgramStep] = []
        while steps.count < length { steps += generator.next(&random) }
        self.init(seed: seed, configuration: configuration, steps: steps)
    }
}

extension SeededGenerator {
    /// Returns a number in 0..<bound.
    mutating func below(_ bound: Int) -> Int { Int(below(UInt64(bound))) }

    /// Returns true with a chance of one in `chances`.
    mutating func isTrue(in chances: Int) -> Bool { below(chances) == 0 }
}
