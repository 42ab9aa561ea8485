import JSONFiles

extension Configuration {
  /// Where programs such as Prometheus fetch the metrics, over HTTP; nowhere by default.
  public struct Metrics: Hashable, Sendable, ConfigurationPart {
    /// The path of a Unix socket.
    public var socket: String?
    /// A port of 127.0.0.1.
    public var port: UInt16?

    static let keys = [Key.metrics]

    private enum Keys: String, CaseIterable { case socket, port }

    mutating func read(_ root: FileMembers<Key>) throws(FileError) {
      guard let section = root[.metrics] else { return }
      let members = try FileMembers(section, Keys.self)
      socket = try members.optional(.socket) { value throws(FileError) in try value.path(.socket) }
      if let value = members[.port] { port = UInt16(try value.integer(in: 1024...65_535)) }
    }
  }
}
