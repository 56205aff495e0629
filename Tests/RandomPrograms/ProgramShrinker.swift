/// Reduces a failing program while it fails in the same way.
public enum ProgramShrinker {
    /// Returns the smallest program found that breaks the same rule on an emulator.
    public static func shrink(_ program: Program, breaking violation: String) async throws -> Program {
        try await shrink(program) { try await ProgramRun($0).run().violations.contains(violation) }
    }

    /// Returns the smallest program found, by removing ever shorter runs of steps.
    ///
    /// - Parameter fails: Returns whether a program still shows the failure.
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
