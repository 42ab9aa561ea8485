/// Load Long Term Keys: replaces the kernel's whole list (mgmt-api).
public struct LoadLongTermKeys: ManagementCommand {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x0013
  /// All keys that the kernel is to know.
  public var keys: [ManagementLongTermKey]

  /// Makes it of its parameters.
  public init(keys: [ManagementLongTermKey]) { self.keys = keys }
  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    keys = []
    for _ in 0..<(try reader.uint16()) { keys.append(try ManagementLongTermKey(from: &reader)) }
  }
  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint16(UInt16(clamping: keys.count))
    for key in keys.prefix(0xFFFF) { key.write(to: &writer) }
  }
}

/// Load Identity Resolving Keys: replaces the kernel's whole list (mgmt-api).
public struct LoadIdentityResolvingKeys: ManagementCommand {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x0030
  /// All keys that the kernel is to know.
  public var keys: [ManagementIdentityResolvingKey]

  /// Makes it of its parameters.
  public init(keys: [ManagementIdentityResolvingKey]) { self.keys = keys }
  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    keys = []
    for _ in 0..<(try reader.uint16()) { keys.append(try ManagementIdentityResolvingKey(from: &reader)) }
  }
  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint16(UInt16(clamping: keys.count))
    for key in keys.prefix(0xFFFF) { key.write(to: &writer) }
  }
}
