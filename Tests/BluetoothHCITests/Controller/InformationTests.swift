import Testing

@testable import BluetoothHCI

@Suite struct InformationTests {
    private var host = ControllerHost()

    @Test mutating func theControllerSupportsLowEnergyAlone() {
        // Bits 37 and 38: no BR/EDR, LE; bit 63: extended features.
        #expect(host.ask(0x1003) == ["040e0c010310000000000060000080"])
        #expect(host.ask(0x1004, "00") == ["040e0e0104100000010000000060000080"])
        #expect(host.ask(0x1004, "02") == ["040e0401041012"])
        for opcode in [UInt16(0x0401), 0x0C13, 0x0C1A, 0x0C56] {
            #expect(host.ask(opcode) == [ControllerHost.status(opcode, .unknownCommand)])
        }
    }

    @Test mutating func theHostsSupportOfLowEnergyIsAFeature() {
        #expect(host.ask(0x0C6C) == ["040e06016c0c000000"])
        #expect(host.ask(0x0C6D, "0101") == ["040e04016d0c00"])
        #expect(host.ask(0x0C6C) == ["040e06016c0c000100"])
        #expect(host.ask(0x1004, "01") == ["040e0e0104100001010200000000000000"])
        #expect(host.ask(0x0C6D, "0200") == ["040e04016d0c12"])
    }

    @Test mutating func theVersionTheAddressAndTheBuffersAreRead() {
        #expect(host.ask(0x1001) == ["040e0c010110000b00000bffff0000"])
        #expect(host.ask(0x1009) == ["040e0a01091000554433221100"])
        #expect(host.ask(0x1005) == ["040e0b01051000fb000004000000"])
        #expect(host.ask(0x2002) == ["040e0701022000fb0004"])
        #expect(host.ask(0x2060) == ["040e0a01602000fb0004000000"])
    }

    /// Encryption, connection parameters request, features exchange by the peripheral, data length, privacy, 2M, coded,
    /// extended advertising, algorithm #2.
    @Test mutating func theFeaturesAreThoseOfTheCommands() {
        #expect(host.ask(0x2003) == ["040e0c010320006b59000000000000"])
        #expect(host.ask(0x201C) == ["040e0c011c2000ffffffffff030000"])
    }

    @Test mutating func theTransmitPowerIsRead() {
        #expect(host.ask(0x2007) == ["040e05010720000a"])
        #expect(host.ask(0x204B) == ["040e06014b2000ec0a"])
        host.connect()
        #expect(host.ask(0x0C2D, "400000") == ["040e07012d0c0040000a"])
        #expect(host.ask(0x0C2D, "400002") == ["040e06012d0c124000"])
    }

    @Test mutating func resetEndsEverythingWithoutAnEvent() {
        host.connect()
        host.ask(0x0C6D, "0100")
        #expect(host.ask(0x0C03) == ["040e0401030c00"])
        #expect(host.commands == [.reset])
        #expect(host.ask(0x0C6C) == ["040e06016c0c000000"])
        #expect(host.ask(0x2015, "4000") == ["040e06011520024000"])
    }
}

@Suite struct EventMaskTests {
    /// Core Specification, Vol 4, Part E, 7.3.1: LE Meta is masked after Reset.
    @Test func afterResetTheHostGetsNoEventOfLowEnergy() {
        var host = ControllerHost()
        #expect(host.connect() == [])
        #expect(host.handle(.disconnected(handle: 0x40, reason: 0x13)) == ["04050400400013"])
    }

    @Test func aMaskedEventIsNotSent() {
        var host = ControllerHost()
        host.ask(0x0C01, "EFFFFFFFFFFFFFFF")
        host.connect()
        #expect(host.handle(.disconnected(handle: 0x40, reason: 0x13)) == [])
        // Its effects remain.
        #expect(host.ask(0x2015, "4000") == ["040e06011520024000"])
    }

    @Test func theAnswersAndTheCompletedPacketsCannotBeMasked() {
        var host = ControllerHost()
        #expect(host.ask(0x0C01, "0000000000000000") == ["040e0401010c00"])
        host.connect()
        #expect(host.ask(0x2016, "4000") == ["040f0400011620"])
        host.send(acl: 0x40, [1, 0, 4, 0, 0x0A])
        #expect(host.handle(.sent(handle: 0x40)) == ["0413050140000100"])
    }

    @Test func theMaskOfLowEnergyChoosesItsEvents() {
        var host = ControllerHost(wanted: 0x08)
        #expect(host.connect() == [])
        #expect(host.ask(0x2016, "4000").count == 2)
        host.ask(0x2001, "F7FFFFFFFFFFFFFF")
        #expect(host.ask(0x2016, "4000") == ["040f0400011620"])
    }

    @Test func theMaskOfPage2IsAccepted() {
        var host = ControllerHost()
        #expect(host.ask(0x0C63, "0000800000000000") == ["040e0401630c00"])
    }

    @Test func everyEventHasItsOwnBit() {
        for bit in 0..<64 {
            var mask = EventMask()
            mask.events = 1 << bit
            #expect(mask.allows(.disconnectionComplete) == (bit == 4))
            #expect(mask.allows(.encryptionChange) == (bit == 7))
            #expect(mask.allows(.readRemoteVersionComplete) == (bit == 11))
            #expect(mask.allows(.dataBufferOverflow) == (bit == 25))
            #expect(mask.allows(.encryptionKeyRefreshComplete) == (bit == 47))
            #expect(mask.allows(.lowEnergyMeta) == (bit == 61))
            mask.events = .max
            mask.lowEnergy = 1 << bit
            #expect(mask.allows(LowEnergyEvent.connectionComplete) == (bit == 0))
            #expect(mask.allows(LowEnergyEvent.enhancedConnectionComplete) == (bit == 9))
            #expect(mask.allows(LowEnergyEvent.extendedAdvertisingReport) == (bit == 12))
            #expect(mask.allows(LowEnergyEvent.advertisingSetTerminated) == (bit == 17))
        }
    }
}
