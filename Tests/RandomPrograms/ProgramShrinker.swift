/// Makes a failing program smaller as long as it fails in the same way.
public enum ProgramShrinker {
    /// The smallest program that was found and breaks a rule as this one does, on an emulator.
    public static func shrink(_ program: Program, breaking violation: String) async throws -> Program {
        try await shrink(program) { try await ProgramRun($0).run().violations.contains(violation) }
    }

    /// The smallest program that was found, by leaving out ever smaller runs of steps.
    ///
    /// - Parameter fails: Whether a program still shows the failure.
    public static func shrink(
        _ program: Program, while fails: (Program) async throws -> Bool
    ) async rethrows -> Program {
        var smallest = program
        var length = max(1, smallest.steps.count / 2)
        while true {
            var start = 0
            var isSmaller = false
            while start < smallest.steps.count {
                var candidate = smallest
                candidate.steps.removeSubrange(start..<min(start + length, candidate.steps.count))
                if try await fails(candidate) {
                    smallest = candidate
                    isSmaller = true
                } else {
                    start += length
                }
            }
            if length == 1, !isSmaller { return smallest }
            if !isSmaller { length = max(1, length / 2) }
        }
    }
}
