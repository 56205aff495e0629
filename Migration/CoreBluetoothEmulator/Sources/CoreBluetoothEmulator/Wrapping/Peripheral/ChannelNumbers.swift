import CoreBluetooth

/// The numbers of published L2CAP channels: those of the radio, and those that apps see.
///
/// They differ where the configured range has not the radio's.
struct ChannelNumbers {
    /// Who waits for the answer; nil is the app's delegate.
    typealias Completion = (Result<CBL2CAPPSM, any Error>) -> Void

    private var radioNumbers: [CBL2CAPPSM: CBL2CAPPSM] = [:]
    /// Who waits for publications, in order.
    var publications: [Completion?] = []
    /// Who waits for withdrawals, in order.
    var withdrawals: [Completion?] = []

    /// The radio's number of a published one.
    func radioNumber(of number: CBL2CAPPSM) -> CBL2CAPPSM? { radioNumbers[number] }

    /// The published number of the radio's.
    func number(ofRadio radioNumber: CBL2CAPPSM) -> CBL2CAPPSM? {
        radioNumbers.first { $0.value == radioNumber }?.key
    }

    /// Publishes a number of the radio's.
    ///
    /// - Returns: The same number if it is within the range and free, else the lowest free one; nil if none is free.
    mutating func publish(radioNumber: CBL2CAPPSM, within range: ClosedRange<CBL2CAPPSM>) -> CBL2CAPPSM? {
        let isFree = { [radioNumbers] number in radioNumbers[number] == nil }
        let own = range.contains(radioNumber) && isFree(radioNumber) ? radioNumber : nil
        guard let number = own ?? range.first(where: isFree) else { return nil }
        radioNumbers[number] = radioNumber
        return number
    }

    mutating func withdraw(_ number: CBL2CAPPSM) { radioNumbers[number] = nil }
}
