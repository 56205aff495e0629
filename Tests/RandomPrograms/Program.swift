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
        var random = ProgramRandom(seed: seed)
        let configuration = random.below(4)
        var generator = ProgramGenerator()
        var steps: [ProgramStep] = []
        while steps.count < length { steps += generator.next(&random) }
        self.init(seed: seed, configuration: configuration, steps: steps)
    }
}

/// SplitMix64, by Sebastiano Vigna (public domain): the same numbers on every machine.
struct ProgramRandom {
    private var state: UInt64

    /// Neighbouring seeds begin far from each other.
    init(seed: UInt64) { state = Self.mix(seed) }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mix(state)
    }

    private static func mix(_ number: UInt64) -> UInt64 {
        var mixed = number
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    mutating func isTrue(in chances: Int) -> Bool { below(chances) == 0 }
}
