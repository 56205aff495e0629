import CoreBluetooth

/// The numbers of published L2CAP channels: those of the emulator, and those that apps see.
///
/// They differ if the configured range does not contain the emulator's number.
struct ChannelNumbers {
    /// The receiver of the answer; nil for the app's delegate.
    typealias Completion = (Result<CBL2CAPPSM, any Error>) -> Void

    private var backendNumbers: [CBL2CAPPSM: CBL2CAPPSM] = [:]
    /// The receivers of publications, in order.
    var publications: [Completion?] = []
    /// The receivers of withdrawals, in order.
    var withdrawals: [Completion?] = []

    /// Returns the emulator's number for a published one.
    func backendNumber(of number: CBL2CAPPSM) -> CBL2CAPPSM? { backendNumbers[number] }

    /// Returns the published number for one of the emulator's.
    func number(ofBackend backendNumber: CBL2CAPPSM) -> CBL2CAPPSM? {
        backendNumbers.first { $0.value == backendNumber }?.key
    }

    /// Publishes one of the emulator's numbers.
    ///
    /// - Returns: The same number if it is within the range and free, otherwise the lowest free one; nil without a free
    ///   one.
    mutating func publish(backendNumber: CBL2CAPPSM, within range: ClosedRange<CBL2CAPPSM>) -> CBL2CAPPSM? {
        let isFree = { [backendNumbers] number in backendNumbers[number] == nil }
        let own = range.contains(backendNumber) && isFree(backendNumber) ? backendNumber : nil
        guard let number = own ?? range.first(where: isFree) else { return nil }
        backendNumbers[number] = backendNumber
        return number
    }

    mutating func withdraw(_ number: CBL2CAPPSM) { backendNumbers[number] = nil }
}
