import Testing

@testable import bluectl

struct DiagnosisTests {
    private let healthy: SystemReport = {
        var facts = SystemReport(
            busAddress: "unix:path=/run/dbus/system_bus_socket", bus: .yes,
            user: SystemReport.User(
                name: "ann", isRoot: false, groups: ["ann", "bluetooth"], systemHasBluetoothGroup: true))
        facts.daemon = .yes
        facts.daemonProcess = 42
        facts.isActivatable = true
        facts.objects = .yes
        facts.kernelControllers = ["hci0"]
        facts.switches = [SystemReport.KillSwitch(name: "hci0", isSoftBlocked: false, isHardBlocked: false)]
        facts.adapters = [
            SystemReport.Adapter(
                name: "hci0", address: "00:11:22:33:44:55", isPowered: true, isDiscovering: false,
                roles: ["central", "peripheral"],
                interfaces: ["org.bluez.Adapter1", "org.bluez.GattManager1", "org.bluez.LEAdvertisingManager1"],
                properties: ["Address", "Powered", "Roles"])
        ]
        return facts
    }()

    private func problem(_ check: String, in facts: SystemReport, adapter: String? = nil) throws -> Finding {
        let diagnosis = Diagnosis(facts: facts, adapter: adapter)
        #expect(diagnosis.hasProblem)
        return try #require(diagnosis.findings.first { $0.check == check && $0.status == .problem })
    }

    @Test func aHealthySystemHasNoProblem() {
        let diagnosis = Diagnosis(facts: healthy, adapter: nil)
        #expect(!diagnosis.hasProblem)
        #expect(
            diagnosis.findings == [
                Finding("bus", .ok, "the system bus answers"),
                Finding("daemon", .ok, "bluetoothd owns org.bluez, process 42"),
                Finding("permissions", .ok, "user ann, in group bluetooth is allowed to use org.bluez"),
                Finding("controller", .ok, "the kernel has hci0"),
                Finding("rfkill", .ok, "no switch blocks Bluetooth"),
                Finding("adapter", .ok, "hci0 (00:11:22:33:44:55) is on"),
                Finding(
                    "features", .note,
                    "hci0: BlueZ 5.55 or newer, central, peripheral, advertising, local services"),
            ])
    }

    @Test func noBusIsAProblemWithARemedy() throws {
        var facts = healthy
        facts.bus = .error(name: "org.freedesktop.DBus.Error.FileNotFound", message: "no such file")
        let finding = try problem("bus", in: facts)
        #expect(finding.detail.contains("no such file"))
        #expect(finding.remedy?.contains("systemctl start dbus") == true)
        #expect(!Diagnosis(facts: facts, adapter: nil).findings.contains { $0.check == "daemon" })
    }

    @Test func aLibraryThatIsMissingIsNamedWithItsPackage() throws {
        var facts = healthy
        facts.bus = .error(name: "org.freedesktop.DBus.Error.NotSupported", message: "libdbus-1.so.3 is needed")
        let finding = try problem("bus", in: facts)
        #expect(finding.detail.hasPrefix("libdbus-1 is missing: "))
        #expect(finding.detail.hasSuffix("libdbus-1.so.3 is needed"))
        #expect(finding.remedy == "apt install libdbus-1-3")
    }

    @Test func aConnectionThatTheBusClosesMayBeThatOfADynamicUser() throws {
        var facts = healthy
        facts.bus = .error(name: "org.freedesktop.DBus.Error.Disconnected", message: "the bus closed the connection")
        let finding = try problem("bus", in: facts)
        #expect(finding.detail.contains("closed the connection of user"))
        #expect(finding.remedy?.contains("DynamicUser=yes") == true)
    }

    @Test func aMissingDaemonIsDiagnosedAsInstalledOrNot() throws {
        var facts = healthy
        facts.daemon = .error(name: "org.freedesktop.DBus.Error.NameHasNoOwner", message: "")
        facts.objects = nil
        facts.adapters = []
        #expect(try problem("daemon", in: facts).remedy?.contains("systemctl enable --now bluetooth") == true)
        facts.isActivatable = false
        #expect(try problem("daemon", in: facts).remedy?.contains("apt install bluez") == true)
    }

    @Test func deniedAccessNamesTheGroupOnlyIfItIsMissing() throws {
        var facts = healthy
        facts.objects = .error(name: "org.freedesktop.DBus.Error.AccessDenied", message: "rejected")
        #expect(try problem("permissions", in: facts).remedy?.contains("bluetooth.conf") == true)
        facts.user.groups = ["ann"]
        #expect(try problem("permissions", in: facts).remedy?.contains("usermod -aG bluetooth ann") == true)
    }

    @Test func aPowerlessAdapterIsAProblem() throws {
        var facts = healthy
        facts.adapters[0].isPowered = false
        #expect(try problem("adapter", in: facts).remedy == "bluetoothctl power on")
        facts.adapters[0].powerState = "off-blocked"
        #expect(try problem("adapter", in: facts).remedy == "rfkill unblock bluetooth")
    }

    @Test func oneOfTwoAdaptersMayBeOff() {
        var facts = healthy
        facts.adapters.append(SystemReport.Adapter(name: "hci1", isPowered: false))
        #expect(!Diagnosis(facts: facts, adapter: nil).hasProblem)
        #expect(Diagnosis(facts: facts, adapter: "hci1").hasProblem)
    }

    @Test func softAndHardBlocksAreDistinguished() throws {
        var facts = healthy
        facts.adapters[0].isPowered = false
        facts.switches = [SystemReport.KillSwitch(name: "hci0", isSoftBlocked: true, isHardBlocked: false)]
        #expect(try problem("rfkill", in: facts).remedy == "rfkill unblock bluetooth")
        facts.switches = [SystemReport.KillSwitch(name: "hci0", isSoftBlocked: true, isHardBlocked: true)]
        #expect(try problem("rfkill", in: facts).detail == "hci0 is blocked by a hardware switch")
    }

    @Test func noAdapterIsAProblemAndSoIsAWrongChoice() throws {
        var facts = healthy
        #expect(try problem("adapter", in: facts, adapter: "hci7").detail == "there is no adapter hci7 among hci0")
        facts.adapters = []
        #expect(try problem("adapter", in: facts).remedy?.contains("restart bluetoothd") == true)
        facts.kernelControllers = []
        #expect(try problem("controller", in: facts).detail == "the kernel shows no Bluetooth controller")
    }

    @Test func anAdapterIsChosenByAddressToo() {
        #expect(!Diagnosis(facts: healthy, adapter: "00:11:22:33:44:55").hasProblem)
    }

    @Test func anotherScannerIsWorthANote() throws {
        var facts = healthy
        facts.adapters[0].isDiscovering = true
        let diagnosis = Diagnosis(facts: facts, adapter: nil)
        #expect(diagnosis.findings.contains { $0.check == "scanners" && $0.status == .note })
        #expect(!diagnosis.hasProblem)
    }

    @Test func aDaemonThatOtherProgramsCrashIsWorthANote() throws {
        var facts = healthy
        facts.adapters[0].daemonVersion = "5.87"
        facts.adapters[0].crashesOnServiceFilter = true
        let diagnosis = Diagnosis(facts: facts, adapter: nil)
        let finding = try #require(diagnosis.findings.first { $0.check == "version" })
        #expect(finding.status == .note)
        #expect(finding.remedy?.contains("later bluez") == true)
        #expect(diagnosis.findings.last?.detail.contains("BlueZ 5.87, central") == true)
    }

    @Test func anAdapterThatIsNoCentralIsAProblem() throws {
        var facts = healthy
        facts.adapters[0].roles = ["peripheral"]
        #expect(try problem("role", in: facts).detail.contains("does not support the central role"))
    }
}
