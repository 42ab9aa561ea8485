/// The facts that checks look at: the system's files, and the answers of the kernel and the daemon.
public struct Machine: Sendable {
  /// A controller as the kernel describes it (mgmt-api, Read Controller Information).
  public struct Controller: Hashable, Sendable {
    /// The version of Bluetooth as the Assigned Numbers count it (2.1): 9 is 5.0.
    public var version: UInt8
    /// Whether it has Bluetooth LE.
    public var hasLowEnergy: Bool
    /// Whether it has power.
    public var isPowered: Bool

    /// Describes a controller.
    public init(version: UInt8, hasLowEnergy: Bool, isPowered: Bool) {
      self.version = version
      self.hasLowEnergy = hasLowEnergy
      self.isPowered = isPowered
    }
  }

  /// The kernel's answer to a request for a Bluetooth socket.
  public enum Bluetooth: Hashable, Sendable {
    case present
    /// The kernel has no Bluetooth, or none in this network namespace.
    case absent
    /// Another answer: the errno.
    case refused(Int32)
  }

  /// The user that runs this program.
  public struct User: Hashable, Sendable {
    /// The name by which the system knows the user.
    public var name: String
    /// Whether it is root, which is refused nothing.
    public var isRoot: Bool
    /// The groups of this process, by name.
    public var groups: Set<String>
    /// The group "bluetooth": its members, according to the system's files; nil if there is none.
    public var members: Set<String>?

    /// Describes a user.
    public init(name: String, isRoot: Bool, groups: Set<String>, members: Set<String>?) {
      self.name = name
      self.isRoot = isRoot
      self.groups = groups
      self.members = members
    }
  }

  /// The system's files.
  public var files: SystemFiles
  /// The release of the kernel: "6.12.9-amd64".
  public var release: String
  /// Whether there is Bluetooth.
  public var bluetooth: Bluetooth
  /// The controllers that the kernel can use, by name: "hci0".
  public var controllers: [String: Controller]
  /// The controllers that the kernel has left to a program, by name.
  public var taken: Set<String>
  /// The kernel's messages, oldest first; nil if this user may not read them.
  public var kernelLog: [String]?
  /// The asking user.
  public var user: User
  /// The daemon's socket.
  public var socket: String
  /// Whether this user may connect to it.
  public var maySpeak: Bool

  /// Describes a machine.
  public init(
    files: SystemFiles, release: String, bluetooth: Bluetooth, controllers: [String: Controller],
    taken: Set<String> = [], kernelLog: [String]?, user: User, socket: String, maySpeak: Bool
  ) {
    self.files = files
    self.release = release
    self.bluetooth = bluetooth
    self.controllers = controllers
    self.taken = taken
    self.kernelLog = kernelLog
    self.user = user
    self.socket = socket
    self.maySpeak = maySpeak
  }

  /// Whether a client of the socket would only find a running daemon. Where systemd listens, the first client starts
  /// the daemon, which ends bluetoothd: a diagnosis must not.
  public var daemonRuns: Bool {
    guard files.exists(socket) else { return false }
    guard socket == Service.socket, files.exists("/run/systemd/system") else { return true }
    return service != nil
  }

  /// All that can be found without the daemon.
  public var findings: [Finding] {
    kernelFindings + adapterFindings + rfkillFindings + firmwareFindings + ownerFindings + raspberryFindings
      + serviceFindings + socketFindings + groupFindings + facadeFindings + gatewayFindings + storeFindings
  }
}
