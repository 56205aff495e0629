import Testing

@testable import BluetoothProfiles

@Suite struct DecimalsTests {
    @Test(arguments: [
        (1.005, 2, "1.00"), (-0.004, 2, "0.00"), (-1.5, 1, "-1.5"), (12.0, 0, "12"), (0.0625, 3, "0.063"),
        (.infinity, 2, "inf"), (1e300, 2, "1e+300"), (1e11, 9, "100000000000.0"),
    ])
    func numbersHaveAFixedNumberOfDigits(value: Double, digits: Int, expected: String) {
        #expect(Decimals.fixed(value, digits) == expected)
    }

    @Test func hexIsUpperCaseAndFilled() {
        #expect(Decimals.hex(10, width: 4) == "000A")
        #expect(Decimals.hex(0x12345, width: 4) == "12345")
    }

    @Test func namesOfTypesAreWords() {
        #expect(TypeName.words(of: CSCMeasurement.self) == "CSC Measurement")
        #expect(TypeName.words(of: UVIndex.self) == "UV Index")
        #expect(UInt16.valueName == "UInt16")
        #expect(PnPID.valueName == "PnP ID")
    }
}
