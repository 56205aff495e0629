import BluetoothBackend
import BluetoothSupport
import BluetoothValues
import Foundation
import Testing

@testable import BluetoothEmulator
@testable import LiveView

/// The words of the page: no name of the source reaches it.
@Suite struct WordsTests {
    /// Returns the words with an upper-case letter behind a lower-case one, except units.
    private func names(in text: String) -> [Substring] {
        let units: Set<Substring> = ["dBm", "kJ"]
        return text.split { !$0.isLetter && !$0.isNumber }.filter { word in
            !units.contains(word) && !word.hasPrefix("0x")
                && zip(word, word.dropFirst()).contains { $0.isLowercase && $1.isUppercase }
        }
    }

    private func check(_ texts: [String], _ place: SourceLocation = #_sourceLocation) {
        for text in texts {
            #expect(!text.isEmpty, sourceLocation: place)
            #expect(names(in: text) == [], "\(text)", sourceLocation: place)
            #expect(!text.hasSuffix(" ") && !text.contains("  "), "\(text)", sourceLocation: place)
        }
        #expect(Set(texts).count == texts.count, "\(texts)", sourceLocation: place)
    }

    @Test func namesOfTheSourceAreFound() {
        #expect(names(in: "state=poweredOn, -51 dBm, ATT error 0xA5, LE 1M") == ["poweredOn"])
    }

    @Test func theValuesOfTheProtocolAreWords() {
        check(AdapterState.allCases.map(\.words))
        check([AuthorizationStatus.notDetermined, .restricted, .denied, .allowed].map(\.words))
        check(BackendFeature.allCases.map(\.words))
        check(BackendError.Code.allCases.map(\.words))
        check(
            [PairingCapability.displayOnly, .displayYesNo, .keyboardOnly, .noInputNoOutput, .keyboardDisplay]
                .map(\.words))
        let properties = CharacteristicProperties(rawValue: 0x3FF)
        check(properties.words)
        #expect(properties.words.count == properties.names.count)
        check((1...UInt8.max).map { ATTCode(rawValue: $0).words })
    }

    @Test func theValuesOfTheEmulatorAreWords() {
        check(Proximity.allCases.map(\.words))
        check(PHY.allCases.map(\.words))
        check([SecurityLevel.plain, .bonded, .encrypted, .authenticated].map(\.words))
        check(
            [
                PairingMethod.justWorks, .numericComparison, .passkey(shownBy: .central),
                .passkey(shownBy: .peripheral), .passkey(shownBy: nil), .outOfBand,
            ].map(\.words))
        check(PairingDescription.Answer.allCases.map(\.words))
        check(
            [ChannelRefusal.noService, .noResources, .insufficientAuthentication, .insufficientEncryption]
                .map(\.words))
        check([DisconnectReason.local, .remote, .timeout, .authentication, .unknown].map(\.words))
        let parameters: Set<DeviceParameter> = Set(BuiltInHandler.allCases.flatMap(\.parameters.keys))
        check(parameters.map(\.words.title))
        #expect(DeviceParameter("flowRate").words.title == "Flow rate")
    }

    private static let effects: [DeviceFault.Effect] = [
        .fail(ATTCode(rawValue: 0x80)), .delay(.milliseconds(7_500)), .pause, .disconnect, .loseAnswer,
        .delayAnswer(.milliseconds(7_500)), .corrupt,
    ]

    @Test func everyFaultIsASentence() {
        for effect in Self.effects {
            check(DeviceFault.Step.allCases.map { DeviceFault($0, effect, of: "2A37", skip: 2, count: nil).words() })
            check(DeviceFault.Step.allCases.map { effect.words(for: $0) })
        }
        check(DeviceFault.Step.allCases.map(\.words))
        #expect(DeviceFault(.write, .disconnect).words() == "The next write drops the link")
        #expect(
            DeviceFault(.read, .delay(.seconds(2)), of: "2A37", skip: 1, count: 3).words { _ in "Heart Rate" }
                == "The next 3 reads of Heart Rate come 2 s late, after 1 that succeeds")
        #expect(DeviceFault.Effect.pause.words(for: .writeCommand) == "The write without response hangs until resumed")
        #expect(
            DeviceFault(.write, .loseAnswer).words()
                == "The next write is performed, but the answer is lost with the link")
        #expect(
            DeviceFault.Effect.delayAnswer(.seconds(2)).words(for: .subscribe)
                == "The subscription is performed, but the answer comes 2 s late")
        #expect(DeviceFault.Effect.corrupt.words(for: .read) == "The read returns a malformed value")
    }

    @Test func everyControlOfADeviceIsWords() {
        let path: CharacteristicPath = "2A37"
        let controls: [DeviceControl] = [
            .notify(.path(path), Data([1])), .notifyAtOnce(path, Data()), .setValue(.path(path), Data([1])),
            .setValue(.descriptor("2901", of: path), Data([1])),
            .setValue(.position(AttributePosition(service: 0, characteristic: 1)), Data([1])),
            .setParameter(.heartRate, 180), .setParameter(.sensorContact, 0), .note("A note"), .hold(path, true),
            .hold(path, false), .disconnect(nil), .lose(staysOnAir: true), .lose(staysOnAir: false),
            .setAdvertising(0, AdvertisingDescription(AdvertisingData()), firstPacket: nil),
            .enableAdvertising(nil, true), .enableAdvertising(1, false), .setProximity(.outOfRange), .setRSSI(-51),
            .setRSSI(nil), .addService(ServiceDescription("180D")), .removeService("180D", index: 0),
            .removeServiceNumber(0), .rename("Heart", isAnnounced: false), .changeAddress("C0:00:00:00:00:07"),
            .rotateAddress, .setParameters(ConnectionParameters(interval: .milliseconds(30))), .setPacketLoss(0.1),
            .setPairing(PairingDescription()), .loseBonds(nil), .exchangeMTU(185), .failConnections(1),
            .failConnections(2), .inject(DeviceFault(.readRSSI, .fail())), .removeFault(DeviceFault(.pair, .pause)),
            .clearFaults, .resume, .startTimer(1, after: .seconds(1), every: nil), .stopTimer(1),
            .send(ChannelID(rawValue: 1), Data([1])), .closeChannel(ChannelID(rawValue: 1)), .remove,
        ]
        check(controls.map(\.words))
    }

    @Test func everyControlOfAHostIsWords() {
        let peer = PeerID(UUID())
        let central = RestoredCentralState(peers: [])
        let controls: [HostControl] = [
            .power(true), .power(false), .authorize(.notDetermined), .reset(.seconds(1)), .plug(true), .plug(false),
            .setState(.poweredOff), .setState(nil), .setMaximumMTU(185), .setMaximumMTU(nil),
            .setAdvertising(HostAdvertising()), .rotateAddress, .forget(peer), .remember(peer),
            .setFeature(.connectedRSSI, true), .terminateApp("app"), .preserveCentral(central, "app"),
            .authorizeANCS(peer, true), .authorizeANCS(peer, false), .removeBond("C0:00:00:00:00:07"),
            .connectOtherApp(peer, withoutAdvertising: false), .disconnectOtherApp(peer),
            .disconnectCentral(peer, isForSecurity: true),
        ]
        check(controls.map(\.words))
    }

    @Test func everyEventOfTheLogIsASentence() {
        var model = LiveModel()
        let device = TappedDevice(
            number: 7, host: nil, name: "Heart", identityAddress: "C0:00:00:00:00:07", address: "C0:00:00:00:00:07",
            proximity: .near, rssi: nil, isOn: true, advertising: [])
        let connection = TappedConnection(
            link: 3, central: .init(host: 0, peer: nil, address: "00:00:00:00:00:01", identityAddress: nil),
            peripheral: .init(host: nil, peer: nil, address: "C0:00:00:00:00:07", identityAddress: nil), device: 7,
            parameters: ConnectionParameters(interval: .milliseconds(30)), mtu: 185, phy: .leCodedS8, dataLength: 251,
            security: .plain, sharedLink: nil, knowsServices: false)
        let features = TappedPairingFeatures(
            central: .keyboardDisplay, peripheral: .displayYesNo, method: .numericComparison)
        let kinds: [TapEvent.Kind] = [
            .began, .deviceAdded(device), .connectionOpened(connection), .dropped(3), .note("write command dropped"),
            .control(source: "device 7", "setProximity proximity=outOfRange", words: "moves out of range", device: 7),
            .faultApplied(device: 7, .discoverIncludedServices, .fail()), .packetsLost(link: 3, count: 1),
            .connectionFailed(host: 0, peer: PeerID(UUID()), .connectionTimeout),
            .mtuChanged(link: 3, mtu: 247),
            .parametersChanged(link: 3, ConnectionParameters(interval: .microseconds(7500))),
            .att(link: 3, .request(.discoverServices, sentAt: .zero)), .att(link: 3, .response(.services([]))),
            .att(link: 3, .request(.discoverIncludedServices(in: 1...3), sentAt: .zero)),
            .att(link: 3, .response(.includedServices([]))),
            .att(link: 3, .request(.discoverCharacteristics(in: 1...3), sentAt: .zero)),
            .att(link: 3, .response(.characteristics([]))),
            .att(link: 3, .request(.discoverDescriptors(in: 1...3), sentAt: .zero)),
            .att(link: 3, .response(.descriptors([]))), .att(link: 3, .request(.read(handle: 2), sentAt: .zero)),
            .att(link: 3, .response(.error(.insufficientAuthentication))), .att(link: 3, .response(.written)),
            .att(link: 3, .command(handle: 2, Data([1]))), .att(link: 3, .notification(handle: 2, Data([1]))),
            .att(link: 3, .indication(handle: 2, Data([1]))), .securityChanged(link: 3, .authenticated),
            .pairingStarted(link: 3), .pairingMethodChosen(link: 3, features),
            .pairingSucceeded(link: 3, isBonded: true), .pairingSucceeded(link: 3, isBonded: false),
            .pairingFailed(link: 3, .tooManyPairedDevices), .keysLost(device: 7, ofHost: nil),
            .channelOpened(link: 3, ChannelID(rawValue: 1), psm: 128, credits: 100),
            .channelRefused(link: 3, psm: 128, .noResources), .channelClosed(ChannelID(rawValue: 1), by: .central),
            .connectionClosed(link: 3, side: .central, .authentication),
        ]
        let lines = kinds.flatMap { model.events(for: TapEvent(time: .zero, kind: $0)) }.compactMap {
            if case .log(let line) = $0 { line } else { nil }
        }
        check(lines.map(\.text))
        // All but the beginning and the device have a line.
        #expect(lines.count == kinds.count - 2)
        for line in lines { #expect(line.text.first?.isLowercase == false, "\(line.text)") }
    }

    @Test(arguments: [
        (Duration.seconds(2), "2 s"), (.milliseconds(30), "30 ms"), (.microseconds(7_500), "7.5 ms"), (.zero, "0 s"),
        (.seconds(90), "1.5 min"), (.microseconds(20), "20 us"), (.seconds(3_600), "1 h"),
    ])
    func aDurationHasItsLargestUnit(duration: Duration, words: String) {
        #expect(duration.words == words)
    }
}
