/// A packet between a host and a Bluetooth controller, or a note about them, as a monitor of packets sees it.
public struct MonitorPacket: Hashable, Sendable {
  /// A packet's kind: the numbers of Linux's monitor channel, which btsnoop's format 2001 also uses.
  public struct Kind: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: UInt16
    /// Makes a kind of any number, known or not.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// A controller was added: its type, its bus, its address and eight octets of its name.
    public static let newIndex = Kind(rawValue: 0)
    /// The controller was removed.
    public static let deletedIndex = Kind(rawValue: 1)
    /// An HCI command.
    public static let command = Kind(rawValue: 2)
    /// An HCI event.
    public static let event = Kind(rawValue: 3)
    /// ACL data to the controller.
    public static let sentACL = Kind(rawValue: 4)
    /// ACL data from the controller.
    public static let receivedACL = Kind(rawValue: 5)
    /// The controller has power.
    public static let openIndex = Kind(rawValue: 8)
    /// The controller was powered off.
    public static let closeIndex = Kind(rawValue: 9)
    /// A controller's address and its maker's number.
    public static let indexInformation = Kind(rawValue: 10)
    /// A program's note: a priority, its name, and a text.
    public static let userLogging = Kind(rawValue: 13)
    /// A program's call to the kernel's management interface: four octets that identify the program, the opcode, and
    /// the parameters.
    public static let controlCommand = Kind(rawValue: 16)
    /// The management interface's answer or event for a program, in the same form.
    public static let controlEvent = Kind(rawValue: 17)
  }

  /// The packet's kind.
  public var kind: Kind
  /// Its octets, without the type octet used on a serial line. Some at the end may be missing.
  public var octets: [UInt8]
  /// Its original length in octets.
  public var length: Int
  /// When it passed, in microseconds since the epoch; nil: now.
  public var time: Int64?

  /// Describes a complete packet.
  public init(_ kind: Kind, _ octets: [UInt8], time: Int64? = nil) {
    self.kind = kind
    self.octets = octets
    length = octets.count
    self.time = time
  }
}
