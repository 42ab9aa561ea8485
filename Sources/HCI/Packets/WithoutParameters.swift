/// A command that is nothing but its opcode.
public protocol WithoutParameters {
  /// Makes it of nothing.
  init()
}

extension WithoutParameters {
  /// Reads nothing.
  public init(from reader: inout OctetReader) throws(HCICodingError) { self.init() }
  /// Writes nothing.
  public func write(to writer: inout OctetWriter) {}
}
