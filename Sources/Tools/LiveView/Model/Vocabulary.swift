import BluetoothBackend
import BluetoothEmulator
import BluetoothValues

/// The names of the protocol with their words, as in the answer to `GET /v1/vocabulary`.
///
/// `bluectl` prints the same words.
package struct Vocabulary: Codable, Hashable, Sendable {
    package struct Entry: Codable, Hashable, Sendable {
        /// The name in requests and answers.
        package var name: String
        package var words: String
    }

    /// An effect of faults.
    package struct Effect: Codable, Hashable, Sendable {
        /// The name in requests and answers.
        package var name: String
        package var words: String
        /// The names of the steps to which the effect applies.
        package var steps: [String]
    }

    /// An error code of the Attribute Protocol.
    package struct ErrorCode: Codable, Hashable, Sendable {
        package var code: UInt8
        package var words: String
    }

    /// The states of a host.
    package var states: [Entry]
    /// The values of `authorization`.
    package var permissions: [Entry]
    package var proximities: [Entry]
    /// The steps of faults.
    package var steps: [Entry]
    package var effects: [Effect]
    /// The error codes that have a meaning.
    package var errors: [ErrorCode]

    static let present = Vocabulary(
        states: AdapterState.allCases.map { Entry(name: $0.rawValue, words: $0.words) },
        permissions: [AuthorizationStatus.allowed, .denied, .restricted, .notDetermined].map {
            Entry(name: $0.rawValue, words: $0.words)
        },
        proximities: Proximity.allCases.map { Entry(name: $0.rawValue, words: $0.words) },
        steps: DeviceFault.Step.allCases.map { Entry(name: $0.rawValue, words: $0.words) },
        effects: DeviceFault.EffectName.allCases.map { effect in
            let steps = DeviceFault.Step.allCases.filter { effect.brokenRule(at: $0) == nil }
            return Effect(name: effect.rawValue, words: effect.words, steps: steps.map(\.rawValue))
        },
        errors: (1...UInt8.max).compactMap { number in
            let code = ATTCode(rawValue: number)
            return code.meaning.map { _ in ErrorCode(code: number, words: code.words) }
        })
}
