/// The facts for checks: the system's files, and the answers from the kernel and the daemon.
public struct Machine: Sendable {
  /// A controller as the kernel describes it (mgmt-api, Read Controller Information).
  public struct Controller: Hashable, Sendable {
    /// The version of Bluetooth as the Assigned Numbers count it (2.1): 9 is 5.0.
    public var version: UInt8
    /// True with Bluetooth LE.
    public var hasLowEnergy: Bool
    /// True if it is powered.
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

  /// The user running this program.
  public struct User: Hashable, Sendable {
    /// The user's name in the system.
    public var name: String
    /// True for root, which has all permissions.
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
  /// The kernel's release: "6.12.9-amd64".
  public var release: String
  /// The state of Bluetooth.
  public var bluetooth: Bluetooth
  /// The controllers usable by the kernel, by name: "hci0".
  public var controllers: [String: Controller]
  /// The controllers left to a program by the kernel, by name.
  public var taken: Set<String>
  /// The kernel's messages, oldest first; nil if this user may not read them.
  public var kernelLog: [String]?
  /// The asking user.
  public var user: User
  /// The daemon's socket.
  public var socket: String
  /// True if this user may connect to it.
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

  /// True if a client of the socket would find a running daemon. If systemd listens, the first client starts the
  /// daemon, which ends bluetoothd: a diagnosis must not.
  public var daemonRuns: Bool {
    guard files.exists(socket) else { return false }
    guard socket == Service.socket, files.exists("/run/systemd/system") else { return true }
    return service != nil
  }

  /// All findings without the daemon.
  public var findings: [Finding] {
    kernelFindings + adapterFindings + rfkillFindings + firmwareFindings + ownerFindings + raspberryFindings
      + serviceFindings + socketFindings + groupFindings + facadeFindings + gatewayFindings + storeFindings
  }
}
