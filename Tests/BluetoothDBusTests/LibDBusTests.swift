#if os(Linux)
@testable import BluetoothDBus
import DBusComparison
import Foundation
import Testing

struct LibDBusTests {
    /// The compiler has found each declaration to be the header's, or ``DBusComparison`` would not be there.
    @Test func theDeclarationsWereComparedWithAHeaderThatHasAllFunctions() {
        let compared = dbus_comparison_version
        let (major, minor, micro) = LibDBus.minimumVersion
        #expect(compared >= major << 16 | minor << 8 | micro)
    }

    // MARK: Loading

    @Test func theInstalledLibraryHasAVersionAndAllFunctions() throws {
        let library = try LibDBus.open(LibDBus.soname).get()
        #expect(try #require(LibDBus.version(of: library)) >= LibDBus.minimumVersion)
        #expect(LibDBus.absentFunction(of: library) == nil)
    }

    @Test func aLibraryThatIsMissingIsAnErrorWithTheRemedy() {
        guard case .failure(let error) = LibDBus.open("libdbus-none.so.3") else {
            Issue.record("it was found")
            return
        }
        #expect(error.name == DBusError.Name.notSupported)
        #expect(error.message.contains("apt-get install libdbus-1-3"))
        #expect(error.message.contains("libdbus-none.so.3"))
    }

    @Test func anotherLibraryIsAnErrorAsWell() {
        guard case .failure(let error) = LibDBus.open("libc.so.6") else {
            Issue.record("it was taken for libdbus")
            return
        }
        #expect(error.name == DBusError.Name.notSupported)
        #expect(error.message.contains("another library"))
    }

    @Test func theFirstFunctionThatALibraryLacksIsNamed() throws {
        let library = try #require(dlopen("libc.so.6", RTLD_NOW))
        defer { dlclose(library) }
        #expect(LibDBus.absentFunction(of: library) == "dbus_connection_open_private")
        #expect(LibDBus.flaw(of: (1, 14, 0), without: "dbus_free") == "it has no function dbus_free")
    }

    @Test func aVersionThatIsTooOldIsReportedBeforeWhatItLacks() {
        #expect(LibDBus.flaw(of: (1, 2, 15), without: "dbus_free") == "its version is 1.2.15")
        #expect(LibDBus.flaw(of: (0, 99, 99), without: nil) == "its version is 0.99.99")
        #expect(LibDBus.flaw(of: LibDBus.minimumVersion, without: nil) == nil)
        #expect(LibDBus.flaw(of: (2, 0, 0), without: nil) == nil)
    }
}
#endif
