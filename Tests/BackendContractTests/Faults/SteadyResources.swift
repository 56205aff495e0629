#if BlueZ
import ScriptedBlueZ
import Testing

extension ProcessResources {
    /// The number of additional descriptors that may be open, because some close a moment later.
    static let descriptorTolerance = 2

    /// Returns the resources of the process after the last references have been released, which takes a moment.
    static func atRest(comparedWith before: ProcessResources) async throws -> ProcessResources {
        do {
            try await RealWorldTime().advance(until: {
                guard let now = try? ProcessResources() else { return false }
                return now.descriptors <= before.descriptors + descriptorTolerance
            })
        } catch is ContractTimeout {}
        return try ProcessResources()
    }
}

/// Expects that a thousand rounds have leaked nothing.
func expectFlat(
    _ before: ProcessResources, _ after: ProcessResources, at location: SourceLocation = #_sourceLocation
) {
    #expect(
        after.descriptors <= before.descriptors + ProcessResources.descriptorTolerance, sourceLocation: location)
    #expect(
        after.threads <= before.threads + 32,
        "Dispatch keeps idle threads for a while; leaked ones would be a thousand", sourceLocation: location)
    #expect(after.memory - before.memory < 32_768, sourceLocation: location)
}
#endif
