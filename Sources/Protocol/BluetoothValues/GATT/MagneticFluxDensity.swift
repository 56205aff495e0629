/// Magnetic Flux Density 2D (2AA0): the strength of a magnetic field along two axes.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Magnetic Flux Density - 2D.
public struct MagneticFluxDensity2D: GATTValue, CustomStringConvertible {
    /// The strength along the X axis, in units of 0.1 µT.
    public var x: Int16
    /// The strength along the Y axis, in units of 0.1 µT.
    public var y: Int16

    /// Creates a field, in units of 0.1 µT.
    public init(x: Int16, y: Int16) {
        self.x = x
        self.y = y
    }

    /// Reads four bytes.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        x = try reader.integer("X-axis")
        y = try reader.integer("Y-axis")
    }

    /// Writes four bytes.
    public func write(to writer: inout GATTWriter) {
        for axis in [x, y] { writer.append(axis, bytes: 2) }
    }

    /// The axes in µT.
    public var description: String {
        [x, y].map { Decimals.fixed(Double($0) / 10, 1) }.joined(separator: " ") + " µT"
    }
}

/// Magnetic Flux Density 3D (2AA1): the strength of a magnetic field along three axes.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Magnetic Flux Density - 3D.
public struct MagneticFluxDensity3D: GATTValue, CustomStringConvertible {
    /// The strength along the X axis, in units of 0.1 µT.
    public var x: Int16
    /// The strength along the Y axis, in units of 0.1 µT.
    public var y: Int16
    /// The strength along the Z axis, in units of 0.1 µT.
    public var z: Int16

    /// Creates a field, in units of 0.1 µT.
    public init(x: Int16, y: Int16, z: Int16) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// Reads six bytes.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        x = try reader.integer("X-axis")
        y = try reader.integer("Y-axis")
        z = try reader.integer("Z-axis")
    }

    /// Writes six bytes.
    public func write(to writer: inout GATTWriter) {
        for axis in [x, y, z] { writer.append(axis, bytes: 2) }
    }

    /// The axes in µT.
    public var description: String {
        [x, y, z].map { Decimals.fixed(Double($0) / 10, 1) }.joined(separator: " ") + " µT"
    }
}
