#if os(Linux)
import BluetoothDBus
import CBluetoothKernel
import Glibc
import Testing

@testable import BlueZ

/// Tests that bytes and numbers for the kernel match the structures of the C compiler of this architecture.
@Suite struct KernelLayoutTests {
    private let text = "F0:E1:D2:C3:B4:A5"
    private let backwards: (UInt8, UInt8, UInt8, UInt8, UInt8, UInt8) = (0xA5, 0xB4, 0xC3, 0xD2, 0xE1, 0xF0)

    private func bytes<Structure: BitwiseCopyable>(_ structure: Structure) -> [UInt8] {
        withUnsafeBytes(of: structure) { Array($0) }
    }

    /// Returns bytes for the kernel as a structure; nil if the sizes differ.
    private func structure<Structure: BitwiseCopyable>(_ bytes: [UInt8], as type: Structure.Type) -> Structure? {
        guard bytes.count == MemoryLayout<Structure>.size else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(as: type) }
    }

    // MARK: Sockets

    @Test func anAddressOfAChannelIsSockaddrL2() throws {
        #expect(L2CAPAddress.size == MemoryLayout<sockaddr_l2>.size)
        #expect(CInt(L2CAPAddress.family) == AF_BLUETOOTH)
        let address = try #require(L2CAPAddress(text, isRandom: true, psm: 0x0192))
        let seen = try #require(structure(address.bytes, as: sockaddr_l2.self))
        #expect(seen.l2_family == sa_family_t(AF_BLUETOOTH))
        #expect(seen.l2_psm == UInt16(0x0192).littleEndian)
        #expect(bytes(seen.l2_bdaddr) == bytes(backwards))
        #expect(seen.l2_cid == 0)
        #expect(seen.l2_bdaddr_type == 2)
    }

    @Test func sockaddrL2OfTheKernelIsReadBack() throws {
        let filled = sockaddr_l2(
            l2_family: sa_family_t(AF_BLUETOOTH), l2_psm: UInt16(0x81).littleEndian, l2_bdaddr: bdaddr_t(b: backwards),
            l2_cid: 0, l2_bdaddr_type: 1)
        let read = try #require(L2CAPAddress(bytes(filled)))
        #expect(read == L2CAPAddress(text, isRandom: false, psm: 0x81))
    }

    @Test func anAddressOfAControllerIsSockaddrHCI() throws {
        let seen = try #require(structure(ControllerStructures.address(of: 3), as: sockaddr_hci.self))
        #expect(seen.hci_family == sa_family_t(AF_BLUETOOTH))
        #expect(seen.hci_dev == 3)
        #expect(seen.hci_channel == 0)
    }

    @Test func addressesFitTheSocketFunctions() {
        #expect(MemoryLayout<sockaddr>.size >= MemoryLayout<sockaddr_l2>.size)
        #expect(MemoryLayout<sockaddr>.alignment >= MemoryLayout<sockaddr_l2>.alignment)
    }

    // MARK: Controllers

    @Test func theFilterIsHCIFilter() throws {
        let seen = try #require(structure(ControllerStructures.filter, as: hci_ufilter.self))
        #expect(seen.type_mask == 1 << 4)
        #expect(seen.event_mask.0 == 1 << 0x0E | 1 << 0x0F)
        #expect(seen.event_mask.1 == 0)
        #expect(seen.opcode == UInt16(0x1405).littleEndian)
    }

    @Test func theHandleOfALinkIsReadFromHCIConnInfo() throws {
        let peer = try #require(L2CAPAddress(text, isRandom: true))
        var request = try #require(
            structure(ControllerStructures.connectionRequest(peer), as: hci_conn_info_req.self))
        #expect(bytes(request.bdaddr) == bytes(backwards))
        #expect(request.type == 0x80)
        request.conn_info.handle = 0x0E42
        #expect(ControllerStructures.handle(bytes(request)) == 0x0E42)
    }

    @Test func controllersAreReadFromHCIDevListReq() throws {
        let first = try #require(MemoryLayout<hci_dev_list_req>.offset(of: \.dev_req))
        #expect(ControllerStructures.deviceList.count == first + 16 * MemoryLayout<hci_dev_req>.stride)
        let filled = hci_dev_list_req(
            dev_num: 2, dev_req: (hci_dev_req(dev_id: 1, dev_opt: .max), hci_dev_req(dev_id: 5, dev_opt: .max)))
        #expect(ControllerStructures.devices(bytes(filled)) == [1, 5])
    }

    @Test func aPublicAddressIsReadFromHCIDevInfo() throws {
        var info = try #require(structure(ControllerStructures.deviceInfo(of: 7), as: hci_dev_info.self))
        #expect(info.dev_id == 7)
        info.bdaddr.b = backwards
        #expect(ControllerStructures.publicAddress(bytes(info)) == [0xF0, 0xE1, 0xD2, 0xC3, 0xB4, 0xA5])
    }

    // MARK: Numbers

    @Test func requestsHaveTheNumbersOfTheHeaders() {
        #expect(KernelControllers.deviceList == c_HCIGETDEVLIST)
        #expect(KernelControllers.deviceInfo == c_HCIGETDEVINFO)
        #expect(ControllerSockets.connectionInfo == c_HCIGETCONNINFO)
        #expect(UInt(TIOCOUTQ) == c_TIOCOUTQ)
        #expect(UInt(TIOCGWINSZ) == c_TIOCGWINSZ)
        #expect(BluetoothSockets.Option.level == SOL_BLUETOOTH)
    }

    /// The structure has padding on arm64, and none on x86-64.
    @Test func epollGetsAnEventOfTheSizeThatItReads() throws {
        #expect(MemoryLayout<Epoll.Event>.size >= MemoryLayout<epoll_event>.size)
        #expect(MemoryLayout<Epoll.Event>.alignment >= MemoryLayout<epoll_event>.alignment)
        #expect(try #require(MemoryLayout<epoll_event>.offset(of: \.events)) == 0)
        #expect(Epoll.Events.readable.rawValue == c_EPOLLIN)
        #expect(Epoll.Events.writable.rawValue == c_EPOLLOUT)
        #expect(Epoll.Events.error.rawValue == c_EPOLLERR)
        #expect(Epoll.Events.hangup.rawValue == c_EPOLLHUP)
        #expect(Epoll.Events.once.rawValue == c_EPOLLONESHOT)
        #expect(Epoll.addOperation == c_EPOLL_CTL_ADD)
        #expect(Epoll.deleteOperation == c_EPOLL_CTL_DEL)
        #expect(Epoll.modifyOperation == c_EPOLL_CTL_MOD)
    }

    // MARK: Signedness

    /// C's `char` is signed on x86-64, and unsigned on arm64.
    @Test func aCharacterOfCHasTheSignOfTheArchitecture() {
        #if arch(arm64)
        #expect(c_CHAR_MIN == 0)
        #elseif arch(x86_64)
        #expect(c_CHAR_MIN == -128)
        #endif
    }

    @Test func theSignalStrengthHasASignOnEachArchitecture() {
        let question = HCIReadRSSI(handle: 1)
        #expect(question.answer([0x04, 0x0E, 0x07, 0x01, 0x05, 0x14, 0x00, 0x01, 0x00, 0x80]) == .success(-128))
        #expect(question.answer([0x04, 0x0E, 0x07, 0x01, 0x05, 0x14, 0x00, 0x01, 0x00, 0xFF]) == .success(-1))
    }

    /// The kernel reports the program's path in bytes of C's `char`; those of the letter ü are above 127.
    @Test func thePathOfAProgramMayContainAnyLetter() {
        #expect(PreservationStore.text("/ü/bluectl".utf8.map { CChar(truncatingIfNeeded: $0) }) == "/ü/bluectl")
    }
}
#endif
