import BluetoothBackend
import Testing

/// The merged scan of a backend for all managers.
struct HostLedgerScanTests {
    private func merged(_ scans: ScanParameters...) -> ScanParameters? {
        var ledger = HostLedger()
        for (manager, scan) in scans.enumerated() { ledger.startScan(manager, scan) }
        return ledger.mergedScan
    }

    @Test func withoutScansThereIsNothingToDo() {
        #expect(merged() == nil)
    }

    @Test func filtersAreUnited() {
        let scan = merged(
            ScanParameters(services: ["180F", "180D"]), ScanParameters(services: ["180D", "1809"]))
        #expect(scan == ScanParameters(services: ["1809", "180D", "180F"]))
    }

    @Test(arguments: [nil, []] as [[BluetoothUUID]?])
    func anOpenScanOpensTheMergedOne(_ services: [BluetoothUUID]?) {
        #expect(merged(ScanParameters(services: ["180F"]), ScanParameters(services: services))?.services == nil)
    }

    @Test func S19_aWishForSolicitingPeersOpensTheMergedScan() {
        let scan = merged(ScanParameters(services: ["180F"], solicitedServices: ["1805"]))
        #expect(scan == ScanParameters())
    }

    @Test func S22_oneWishForDuplicatesIsEnough() {
        let scan = merged(
            ScanParameters(services: ["180F"]), ScanParameters(services: ["180F"], allowDuplicates: true))
        #expect(scan?.allowDuplicates == true)
    }

    @Test func S20_aNewScanReplacesTheManagersOwn() {
        var ledger = HostLedger()
        ledger.startScan(1, ScanParameters(services: ["180F"], allowDuplicates: true))
        ledger.startScan(1, ScanParameters(services: ["180D"]))
        #expect(ledger.mergedScan == ScanParameters(services: ["180D"]))
    }

    @Test func S23_aStopWithoutAScanDoesNothing() {
        var ledger = HostLedger()
        #expect(ledger.stopScan(1) == false)
        ledger.startScan(1, ScanParameters(services: ["180D"]))
        ledger.startScan(2, ScanParameters(services: ["180F"]))
        #expect(ledger.stopScan(1) == true)
        #expect(ledger.scanners.map(\.manager) == [2])
        #expect(ledger.mergedScan == ScanParameters(services: ["180F"]))
    }
}
