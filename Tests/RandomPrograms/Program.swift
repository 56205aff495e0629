import BluetoothSupport

/// A seed and what is done in the world that grows from it.
public struct Program: Equatable, Sendable {
    /// Of the world's chance.
    public var seed: UInt64
    /// Which of ``ProgramWorld/configurations``.
    public var configuration: Int
    /// What is done, in order.
    public var steps: [ProgramStep]

    /// A program.
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

    /// A random program of that seed.
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
    /// A number of 0..<bound.
    mutating func below(_ bound: Int) -> Int { Int(below(UInt64(bound))) }

    /// True once in so many times.
    mutating func isTrue(in chances: Int) -> Bool { below(chances) == 0 }
}
