#if os(Linux)
import BluetoothDBus
import CBluetoothGIO
import Glibc

/// The conversion between this package's values and GLib's, whose marshaller is independent of libdbus's.
enum GVariantCoding {
    /// Outgoing descriptors: appended, and referred to by index.
    final class Descriptors {
        let list: UnsafeMutablePointer<GUnixFDList> = g_unix_fd_list_new()
        var isEmpty: Bool { g_unix_fd_list_get_length(list) == 0 }
        deinit { g_object_unref(list) }

        func append(_ descriptor: DBusFileDescriptor) -> gint32 {
            g_unix_fd_list_append(list, descriptor.rawValue, nil)
        }
    }

    /// Returns a floating GVariant.
    static func encode(_ value: DBusValue, _ descriptors: Descriptors) -> OpaquePointer {
        switch value {
        case .byte(let value): return g_variant_new_byte(value)
        case .boolean(let value): return g_variant_new_boolean(value ? 1 : 0)
        case .int16(let value): return g_variant_new_int16(value)
        case .uint16(let value): return g_variant_new_uint16(value)
        case .int32(let value): return g_variant_new_int32(value)
        case .uint32(let value): return g_variant_new_uint32(value)
        case .int64(let value): return g_variant_new_int64(gint64(value))
        case .uint64(let value): return g_variant_new_uint64(guint64(value))
        case .double(let value): return g_variant_new_double(value)
        case .string(let value): return g_variant_new_string(value)
        case .objectPath(let value): return g_variant_new_object_path(value.text)
        case .signature(let value): return g_variant_new_signature(value.text)
        case .fileDescriptor(let value): return g_variant_new_handle(descriptors.append(value))
        case .bytes(let bytes):
            return withType("y") { type in g_variant_new_fixed_array(type, bytes, gsize(bytes.count), 1) }
        case .array(let element, let values):
            return array(element.text, values.map { encode($0, descriptors) })
        case .dictionary(let dictionary):
            let entries = dictionary.entries.map { entry -> OpaquePointer? in
                g_variant_new_dict_entry(encode(entry.key, descriptors), encode(entry.value, descriptors))
            }
            return array("{" + dictionary.keyType.text + dictionary.valueType.text + "}", entries)
        case .structure(let members):
            let children: [OpaquePointer?] = members.map { encode($0, descriptors) }
            return g_variant_new_tuple(children, gsize(children.count))
        case .variant(let value): return g_variant_new_variant(encode(value, descriptors))
        }
    }

    /// Returns a floating tuple, the body of a message.
    static func body(_ values: [DBusValue], _ descriptors: Descriptors) -> OpaquePointer {
        let children: [OpaquePointer?] = values.map { encode($0, descriptors) }
        return g_variant_new_tuple(children, gsize(children.count))
    }

    private static func array(_ element: String, _ children: [OpaquePointer?]) -> OpaquePointer {
        withType(element) { type in g_variant_new_array(type, children, gsize(children.count)) }
    }

    private static func withType(_ text: String, _ body: (OpaquePointer?) -> OpaquePointer) -> OpaquePointer {
        let type = g_variant_type_new(text)
        defer { g_variant_type_free(type) }
        return body(type)
    }

    /// Returns the value of a GVariant, which the caller still owns; `nil` for a type that D-Bus does not have.
    static func decode(_ variant: OpaquePointer, _ list: UnsafeMutablePointer<GUnixFDList>?) -> DBusValue? {
        switch g_variant_classify(variant) {
        case G_VARIANT_CLASS_BYTE: return .byte(g_variant_get_byte(variant))
        case G_VARIANT_CLASS_BOOLEAN: return .boolean(g_variant_get_boolean(variant) != 0)
        case G_VARIANT_CLASS_INT16: return .int16(g_variant_get_int16(variant))
        case G_VARIANT_CLASS_UINT16: return .uint16(g_variant_get_uint16(variant))
        case G_VARIANT_CLASS_INT32: return .int32(g_variant_get_int32(variant))
        case G_VARIANT_CLASS_UINT32: return .uint32(g_variant_get_uint32(variant))
        case G_VARIANT_CLASS_INT64: return .int64(Int64(g_variant_get_int64(variant)))
        case G_VARIANT_CLASS_UINT64: return .uint64(UInt64(g_variant_get_uint64(variant)))
        case G_VARIANT_CLASS_DOUBLE: return .double(g_variant_get_double(variant))
        case G_VARIANT_CLASS_STRING: return .string(text(variant))
        case G_VARIANT_CLASS_OBJECT_PATH: return ObjectPath(text(variant)).map(DBusValue.objectPath)
        case G_VARIANT_CLASS_SIGNATURE: return DBusSignature(text(variant)).map(DBusValue.signature)
        case G_VARIANT_CLASS_HANDLE: return descriptor(g_variant_get_handle(variant), list)
        case G_VARIANT_CLASS_VARIANT: return children(variant, list)?.first.map(DBusValue.variant)
        case G_VARIANT_CLASS_TUPLE: return children(variant, list).map(DBusValue.structure)
        case G_VARIANT_CLASS_ARRAY: return array(variant, list)
        default: return nil
        }
    }

    private static func text(_ variant: OpaquePointer) -> String {
        g_variant_get_string(variant, nil).map { String(cString: $0) } ?? ""
    }

    private static func descriptor(_ index: gint32, _ list: UnsafeMutablePointer<GUnixFDList>?) -> DBusValue? {
        guard let list else { return nil }
        let descriptor = g_unix_fd_list_get(list, index, nil)
        return descriptor < 0 ? nil : .fileDescriptor(DBusFileDescriptor(adopting: descriptor))
    }

    static func children(_ variant: OpaquePointer, _ list: UnsafeMutablePointer<GUnixFDList>?) -> [DBusValue]? {
        var values: [DBusValue] = []
        for index in 0..<g_variant_n_children(variant) {
            guard let child = g_variant_get_child_value(variant, index) else { return nil }
            defer { g_variant_unref(child) }
            guard let value = decode(child, list) else { return nil }
            values.append(value)
        }
        return values
    }

    private static func array(_ variant: OpaquePointer, _ list: UnsafeMutablePointer<GUnixFDList>?) -> DBusValue? {
        let text = String(cString: g_variant_get_type_string(variant))
        guard let type = DBusSignature(text)?.types.first else { return nil }
        if let (key, value) = type.entry { return dictionary(variant, key, value, list) }
        guard type == .array(.byte) else { return children(variant, list).map { .array(type.element, $0) } }
        var count: gsize = 0
        let start = g_variant_get_fixed_array(variant, &count, 1)
        return .bytes(Array(UnsafeRawBufferPointer(start: start, count: Int(count))))
    }

    private static func dictionary(
        _ variant: OpaquePointer, _ key: DBusType, _ value: DBusType, _ list: UnsafeMutablePointer<GUnixFDList>?
    ) -> DBusValue? {
        var entries: [DBusDictionary.Entry] = []
        for index in 0..<g_variant_n_children(variant) {
            guard let child = g_variant_get_child_value(variant, index) else { return nil }
            defer { g_variant_unref(child) }
            guard let pair = children(child, list), pair.count == 2 else { return nil }
            entries.append(.init(key: pair[0], value: pair[1]))
        }
        return .dictionary(DBusDictionary(keyType: key, valueType: value, entries: entries))
    }
}
#endif
