/// A packet between a host and a Bluetooth controller, or a note about them, as a monitor of packets sees it.
public struct MonitorPacket: Hashable, Sendable {
  /// The kind of a packet: the numbers of Linux's monitor channel, which btsnoop's format 2001 also uses.
  public struct Kind: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: UInt16
    /// Makes a kind of any number, known or not.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// A controller is there: its type, its bus, its address and eight octets of its name.
    public static let newIndex = Kind(rawValue: 0)
    /// The controller is gone.
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
    /// The controller has no power any more.
    public static let closeIndex = Kind(rawValue: 9)
    /// The address of a controller and the number of its maker.
    public static let indexInformation = Kind(rawValue: 10)
    /// A program's note: a priority, its name, and a text.
    public static let userLogging = Kind(rawValue: 13)
    /// A program's call of the kernel's management interface: four octets that name the program, the opcode, and the
    /// parameters.
    public static let controlCommand = Kind(rawValue: 16)
    /// An answer or event of the management interface to a program, in the same form.
    public static let controlEvent = Kind(rawValue: 17)
  }

  /// The kind of the packet.
  public var kind: Kind
  /// Its octets, without the octet that tells its type on a serial line. There may be fewer than there were.
  public var octets: [UInt8]
  /// How many octets it had.
  public var length: Int
  /// When it passed, in microseconds since the epoch; nil: now.
  public var time: Int64?

  /// Describes a packet that is there as a whole.
  public init(_ kind: Kind, _ octets: [UInt8], time: Int64? = nil) {
    self.kind = kind
    self.octets = octets
    length = octets.count
    self.time = time
  }
}
