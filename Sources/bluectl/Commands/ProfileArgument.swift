import ArgumentParser
import BluetoothProfiles

/// PROFILE on the command line: `heart-rate`.
struct ProfileArgument: ExpressibleByArgument, Equatable, Sendable {
    let profile: StandardProfile

    init?(argument: String) {
        guard let profile = StandardProfile(rawValue: argument.lowercased()) else { return nil }
        self.profile = profile
    }

    static var allValueStrings: [String] { StandardProfile.allCases.map(\.rawValue) }
}
