import Bluetooth

/// A user, as another program vouches for them.
public struct Principal: Codable, Sendable, Hashable {
  /// The number of the user, 0 to 4294967295.
  public var id: UInt32
  /// The numbers of the user's groups, 0 to 4294967295; the first is the primary one.
  public var groups: [UInt32]?
  /// The number of the process, 1 or more, for the log and `session.list`.
  public var process: Int?
  /// Makes it.
  public init(id: UInt32, groups: [UInt32]? = nil, process: Int? = nil) {
    self.id = id
    self.groups = groups
    self.process = process
  }
}

/// Names the program behind a connection. A connection is a session from its first byte; this call is optional, and can
/// be repeated with other parameters.
public enum SessionOpen: ClientCall {
  public static let method = MethodDescription(
    "session.open", needs: nil, changesSession: true,
    """
    Names the program behind this connection and returns the daemon's release and adapters. With "restore" the session \
    outlasts its program: what it holds and its events are preserved, and handed over when the program opens a session \
    with the same identifier again. The preserved events follow the answer. With "user" the session is opened for \
    another user, whose permissions and limits it then has; that needs the permission "impersonate".
    """)

  public struct Params: RPCPayload {
    /// A human-readable name, which `session.list` and the log show.
    public var name: String?
    /// The restoration identifier, 1 to 128 octets, which is separate for each user. Only in the first call of a
    /// connection.
    public var restore: String?
    /// The time for which the session is preserved without its program, in seconds, 0 or more; the daemon's limit if
    /// missing or longer than that.
    public var keep: Double?
    /// True: the program works in the background, see docs/protocol.md. If missing: unchanged, initially false.
    public var background: Bool?
    /// The user of the session, for a program that serves the programs of other users. Only in the first call of a
    /// connection.
    public var user: Principal?
    public init(
      name: String? = nil, restore: String? = nil, keep: Double? = nil, background: Bool? = nil, user: Principal? = nil
    ) {
      self.user = user
      self.name = name
      self.restore = restore
      self.keep = keep
      self.background = background
    }
  }

  public struct Result: RPCPayload {
    /// The number of this session, 1 or more.
    public var session: Int
    /// The daemon's name and version: "bled 0.2.0".
    public var daemon: String
    /// The commit that the daemon was built from: its first digits, with "-modified" if files differed from it; missing
    /// in a development build.
    public var commit: String?
    /// The version of this protocol, 1 or more; it is incremented by incompatible changes.
    public var `protocol`: Int
    /// The adapters, as `adapter.list` returns them.
    public var adapters: [AdapterDescription]
    /// The permissions of this session: "scan", "connect", "serve", "advertise", "pair", "bonds", "agent", "adapters",
    /// "sessions", "impersonate", "capture", "simulation".
    public var permissions: [Word<Permission>]
    /// The state preserved under the restoration identifier; missing if there is none.
    public var restored: RestoredState?
    public init(
      session: Int, daemon: String, commit: String? = nil, protocol: Int, adapters: [AdapterDescription],
      permissions: [Word<Permission>] = Permission.allCases.words(), restored: RestoredState? = nil
    ) {
      self.commit = commit
      self.session = session
      self.daemon = daemon
      self.protocol = `protocol`
      self.adapters = adapters
      self.permissions = permissions
      self.restored = restored
    }

    /// True if the session has this permission.
    public func isPermitted(_ permission: Permission) -> Bool { permissions.contains(Word(permission)) }
  }
}

/// Ends a session, including a preserved one.
public enum SessionEnd: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "session.end", needs: nil, changesSession: true,
    """
    Releases everything that this session holds, whether it has a restoration identifier or not, and closes the \
    connection. With "restore" it ends a preserved session of the same user instead.
    """)

  public struct Params: RPCPayload {
    /// The restoration identifier of a session without a program; this session if missing.
    public var restore: String?
    public init(restore: String? = nil) { self.restore = restore }
  }
}

/// An adapter as clients see it.
public struct AdapterDescription: RPCPayload, Hashable {
  /// Its name in calls: "hci0".
  public var adapter: String
  /// The kind of the adapter: "kernel", "host" or "simulated".
  public var kind: Word<Kind>
  /// Its address; missing while it is not known.
  public var address: String?
  /// The type of the address, "public" or "random"; missing while it is not known.
  public var addressType: Word<DeviceAddress.Kind>?
  /// The system's name for it.
  public var name: String
  /// The Device Name of the Generic Access service, under which devices see this machine; see adapter.setName.
  public var deviceName: String?
  /// "absent" (unplugged), "off", "starting", "on", "suspended" (the system sleeps) or "failed" (see `problem`).
  public var state: Word<AdapterCondition>
  /// Why it is "failed" or, if that is known, "absent", and the remedy.
  public var problem: Problem?
  /// True if it scans at the moment.
  public var scanning: Bool
  /// The number of advertisements that it sends at the moment.
  public var advertising: Int
  /// The number of its links.
  public var links: Int
  /// The activities, of "connecting", "advertising" and "scanning", that its controller cannot run at once and
  /// therefore runs in turns at the moment; missing if all wanted ones run together.
  public var takingTurns: [Word<AdapterActivity>]?
  /// The activities, of "connecting", "advertising" and "scanning", that its controller cannot run beside its links;
  /// they wait until links have ended. Missing for none.
  public var heldBack: [Word<AdapterActivity>]?
  /// The PHYs that its controller has: "1M", "2M", "coded". Missing while it is not on.
  public var phys: [Word<PHY>]?
  /// The names of its controller's features (Core 6.2, Vol 6, Part B, 4.6): "LE 2M PHY", or "unknown feature bit 75"
  /// for one of a later specification. Those beyond the first 64 are read only where the controller has commands of
  /// theirs that the daemon uses. Missing while it is not on, and of simulated adapters.
  public var features: [String]?
  /// The longest payload of a packet on a link, in octets, 27 to 251 (the maximum data length). Missing while it is not
  /// on.
  public var longestPacket: Int?
  /// The number of advertisements that its controller sends at once; further ones take turns on the last place. Missing
  /// while it is not on.
  public var advertisingSets: Int?
  /// The longest data of an advertisement in octets, 31 to 1650: 31 with legacy PDUs. Missing while it is not on.
  public var longestAdvertisement: Int?
  /// The company identifier of its controller's maker, 0 to 65535 (Assigned Numbers, 7.1). Missing if unknown.
  public var company: Int?
  /// The version of its controller's Core Specification, as HCI numbers them, 0 to 255; 13 is 5.4 (Assigned Numbers,
  /// 2.1). Missing if unknown.
  public var version: Int?
  /// The private address under which devices see it at present, six octets in hex with colons. Missing where they see
  /// `address`.
  public var privateAddress: String?
  /// The known or learned faults of its make of controller. Missing if there are none.
  public var quirks: [Quirk]?
  /// The time since its controller received an advertisement or a scan response, in seconds, 0 or more. Missing if it
  /// received none since it was brought into use, and while it is not on.
  public var sinceReport: Double?
  /// The time since its controller sent anything, reports included, in seconds, 0 or more. Missing likewise.
  public var sinceEvent: Double?

  /// A fault of a make of controller.
  public struct Quirk: Codable, Sendable, Hashable {
    /// Its name: "extendedScanning", or of two activities "connecting beside scanning".
    public var quirk: String
    /// The fault and its consequence, in words.
    public var reason: String
    /// When the daemon learned it from such a controller, in seconds since the epoch. Missing for a known one.
    public var learned: Double?
    /// Makes a quirk.
    public init(quirk: String, reason: String, learned: Double? = nil) {
      self.quirk = quirk
      self.reason = reason
      self.learned = learned
    }
  }

  /// The kinds of adapters.
  public enum Kind: String, Vocabulary {
    /// A controller that the kernel's Bluetooth drives.
    case kernel
    /// A controller of which bled itself is the host: over H4, or taken from the kernel.
    case host
    /// A simulated one.
    case simulated
  }

  /// A problem of an adapter.
  public struct Problem: Codable, Sendable, Hashable {
    /// "permission" (the daemon may not use it), "inUse" (another program has it), "blocked" (by rfkill), "unsupported"
    /// (it lacks a needed feature) or "hardware" (it does not answer, or wrongly).
    public var kind: Word<AdapterProblemKind>
    /// The problem, in words.
    public var message: String
    /// The remedy, in words.
    public var remedy: String
    /// Makes a problem.
    public init(kind: Word<AdapterProblemKind>, message: String, remedy: String) {
      self.kind = kind
      self.message = message
      self.remedy = remedy
    }
  }

  public init(
    adapter: String, kind: Word<Kind>, address: String?, addressType: Word<DeviceAddress.Kind>?, name: String,
    state: Word<AdapterCondition>,
    problem: Problem?, scanning: Bool, advertising: Int, links: Int, takingTurns: [Word<AdapterActivity>]? = nil,
    heldBack: [Word<AdapterActivity>]? = nil, phys: [Word<PHY>]? = nil, features: [String]? = nil,
    longestPacket: Int? = nil, advertisingSets: Int? = nil,
    longestAdvertisement: Int? = nil, company: Int? = nil, version: Int? = nil,
    privateAddress: String? = nil, deviceName: String? = nil, quirks: [Quirk]? = nil, sinceReport: Double? = nil,
    sinceEvent: Double? = nil
  ) {
    self.adapter = adapter
    self.kind = kind
    self.address = address
    self.addressType = addressType
    self.name = name
    self.state = state
    self.problem = problem
    self.scanning = scanning
    self.advertising = advertising
    self.links = links
    self.takingTurns = takingTurns
    self.heldBack = heldBack
    self.phys = phys
    self.features = features
    self.longestPacket = longestPacket
    self.advertisingSets = advertisingSets
    self.longestAdvertisement = longestAdvertisement
    self.deviceName = deviceName
    self.company = company
    self.version = version
    self.privateAddress = privateAddress
    self.quirks = quirks
    self.sinceReport = sinceReport
    self.sinceEvent = sinceEvent
  }
}

/// Lists the adapters.
public enum AdapterList: ClientCall {
  /// There are no parameters.
  public typealias Params = Empty
  public static let method = MethodDescription(
    "adapter.list", needs: nil,
    "Lists the adapters with their state and, if one cannot be used, the reason and the remedy.")
  public struct Result: RPCPayload {
    /// In the order in which the daemon received them; the first is the default.
    public var adapters: [AdapterDescription]
    public init(adapters: [AdapterDescription]) { self.adapters = adapters }
  }
}

/// Switches an adapter on or off.
public enum AdapterPower: ClientCall {
  public static let method = MethodDescription(
    "adapter.power", needs: .adapters,
    """
    Switches an adapter on or off for all programs, and answers when that is done; calls are handled one at a time. \
    Scans, advertisements and pending connections resume when it is on again. adapter.changed is sent to every session.
    """)
  public struct Params: RPCPayload {
    /// The adapter; the first if missing.
    public var adapter: String?
    /// True to switch it on.
    public var on: Bool
    public init(adapter: String? = nil, on: Bool) {
      self.adapter = adapter
      self.on = on
    }
  }
  /// The adapter as it is afterwards.
  public typealias Result = AdapterDescription
}

/// An adapter's state changed.
public enum AdapterChanged: RPCNotification {
  /// The adapter as it is now.
  public typealias Params = AdapterDescription
  public static let message = MessageDescription(
    "adapter.changed",
    "An adapter appeared, disappeared, or changed its state. Sent to every session.")
}
