#if os(Linux)
@_implementationOnly import CBluetoothKernel

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A function that a loaded shared library imports from another one.
package enum ImportedFunction {
    /// Lets a library call another function in place of one that it imports; other libraries are not affected.
    ///
    /// The replacement lasts as long as the process. Calls on other threads reach either function during the call.
    ///
    /// - Parameters:
    ///   - name: The name of the imported function.
    ///   - library: The name of the file of the library, such as `libc.so.6`.
    ///   - replacement: A C function with the same parameters and result.
    /// - Returns: Whether the library is loaded and imports the function.
    package static func replace(_ name: String, in library: String, with replacement: UnsafeMutableRawPointer) -> Bool {
        guard let handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD) else { return false }
        // Only the reference is closed: the library remains loaded.
        defer { dlclose(handle) }
        guard let address = bluetooth_import(handle, name) else { return false }
        let size = Int(sysconf(CInt(_SC_PAGESIZE)))
        let page = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: address) & ~UInt(size - 1))
        guard mprotect(page, size, PROT_READ | PROT_WRITE) == 0 else { return false }
        address.pointee = replacement
        return true
    }
}
#endif
