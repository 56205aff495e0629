#if os(Linux)
import BlueZ
import Testing

@Suite struct BlueZConfigurationTests {
    @Test func theAddressOfAnotherMachinesBusStartsSSH() {
        let arguments = "argv1=-xT,argv2=-oBatchMode%3Dyes,argv3=--,argv4=kitchen.local,argv5=systemd-stdio-bridge"
        #expect(BlueZConfiguration.busAddress(overSSHTo: "kitchen.local") == "unixexec:path=ssh,\(arguments)")
    }

    @Test func whatIsNoLetterOfAnAddressIsEscaped() {
        let address = BlueZConfiguration.busAddress(overSSHTo: "pi@k\u{fc}che,;%", options: ["-p", "2222"])
        #expect(address.contains(",argv3=-p,argv4=2222,argv5=--,argv6=pi%40k%C3%BCche%2C%3B%25,argv7="))
    }
}
#endif
