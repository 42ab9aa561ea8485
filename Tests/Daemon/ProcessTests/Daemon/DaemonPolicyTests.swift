import BledRPC
import Bluetooth
import Glibc
import Testing

/// The policy on real sockets with programs of other users, and the effects of SIGHUP on it. Needs root, to become
/// others.
@Suite(
  .serialized, .enabled(if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0, "needs root and setpriv"))
struct DaemonPolicyTests {
  private static let stranger = 54_321
  private static let group = 54_322

  private func daemon(_ configuration: String) throws -> DaemonProcess {
    let daemon = try DaemonProcess(configuration: "{ socket: { mode: '0666' }, \(configuration) }")
    chmod(daemon.folder.path, 0o755)
    return daemon
  }

  /// Starts `bleshell` as a user without any group of the policy.
  private func start(_ daemon: DaemonProcess, groups: String? = nil, _ arguments: String...) throws -> ChildProcess {
    let identity = ["--reuid", "\(Self.stranger)", "--regid", "\(Self.stranger)"]
    let membership = groups.map { ["--groups", $0] } ?? ["--clear-groups"]
    return try ChildProcess(
      "/usr/bin/setpriv", identity + membership + ["\(ChildProcess.products)/bleshell"] + arguments,
      environment: ["BLED_SOCKET": daemon.socketPath], folder: daemon.folder)
  }

  @Test("By default a user outside the group is refused and told what to do, but can list the adapters")
  func strangers() throws {
    let daemon = try daemon("")
    let adapters = try start(daemon, "adapters", "--json")
    #expect(try adapters.exitStatus() == 0, "\(adapters.errors)")
    #expect(adapters.output.contains("\"\(daemon.adapter(0))\""))
    let scan = try start(daemon, "scan", "--time", "1")
    #expect(try scan.exitStatus() == 1)
    #expect(scan.errors.contains("user \(Self.stranger) lacks the permission \"scan\""), "\(scan.errors)")
    #expect(scan.errors.contains("policy.scan"))
    let identity = try start(daemon, "whoami")
    #expect(try identity.exitStatus() == 0, "\(identity.errors)")
    #expect(identity.output.contains("user \(Self.stranger)\npermissions: none\nnot permitted: scan, connect"))
    #expect(try daemon.bleshell("whoami", "--json").objects().first?["lacking"] == [])
    let doctor = try start(daemon, "doctor", "--json")
    #expect(try doctor.exitStatus() == 1)
    #expect(doctor.output.contains("The daemon permits you nothing."), "\(doctor.output)")
  }

  @Test("A client above the limit is told so, and what to do; root always gets a session")
  func tooManySessions() throws {
    let daemon = try daemon("limits: { sessions: 1 }")
    let client = try daemon.client()
    try client.call(AdapterList.self, Empty())
    // The refusal may be there before bleshell looks, or after.
    for _ in 0..<5 {
      let run = try start(daemon, "adapters")
      #expect(try run.exitStatus() == 1)
      #expect(run.errors.contains("raise limits.sessions"), "\(run.errors)")
    }
    try daemon.client().call(AdapterList.self, Empty())
  }

  @Test("The last descriptors are for root: others are refused with a reason, whatever they write first")
  func descriptorsForRoot() throws {
    let daemon = try daemon("")
    let root = try daemon.client()
    try root.call(AdapterList.self, Empty())
    let free = (0..<1024).first { access("/proc/\(daemon.process.pid)/fd/\($0)", F_OK) != 0 } ?? 0
    let limit = try ChildProcess(
      "/usr/bin/prlimit", ["--pid", "\(daemon.process.pid)", "--nofile=\(free + 3):"], folder: daemon.folder)
    #expect(try limit.exitStatus() == 0)
    for _ in 0..<5 {
      let run = try start(daemon, "adapters")
      #expect(try run.exitStatus() == 1)
      #expect(run.errors.contains("LimitNOFILE"), "\(run.errors)")
    }
    #expect(throws: Never.self) { try daemon.client().call(AdapterList.self, Empty()) }
    let log = daemon.process.errors.split(separator: "\n").filter { $0.contains("no more clients can be accepted") }
    #expect(log.count == 1 && log[0].contains("Too many open files"), "\(log)")
  }

  @Test("Users and supplementary groups of the process have the permissions that the file grants them")
  func granted() throws {
    let daemon = try daemon("policy: { scan: ['user:\(Self.stranger)'], connect: ['group:\(Self.group)'] }")
    let scan = try start(daemon, "scan", "--time", "0", "--json")
    try eventually("a device is heard") { scan.output.contains("Heart Belt") || scan.hasEnded }
    scan.send(signal: SIGINT)
    #expect(try scan.exitStatus() == 0, "\(scan.errors)")
    #expect(try start(daemon, "services", "C0:DE:00:00:00:01/random").exitStatus() == 1)
    let services = try start(daemon, groups: "4,\(Self.group)", "services", "C0:DE:00:00:00:01/random")
    #expect(try services.exitStatus() == 0, "\(services.errors)")
  }

  /// True if namespaces can be created here; inside a container that may not be possible.
  private static let hasNamespaces: Bool = {
    guard let folder = try? TemporaryFolder(),
      let probe = try? ChildProcess("/usr/bin/unshare", ["--mount", "--net", "true"], folder: folder)
    else { return false }
    return (try? probe.exitStatus()) == 0
  }()

  @Test(
    "P25: a program in a container needs only the mounted socket: no root, no capability, no network, no /sys",
    .enabled(if: hasNamespaces, "needs namespaces"))
  func container() throws {
    let daemon = try daemon(
      "policy: { scan: ['everyone'], connect: ['everyone'], serve: ['everyone'], advertise: ['everyone'] }")
    let inside = """
      set -e
      grep -E '^(Uid|CapEff|CapBnd|NoNewPrivs)' /proc/self/status
      ! ls /sys/class/bluetooth 2>/dev/null
      alias b='\(ChildProcess.products)/bleshell --socket /mnt/bled.sock'
      b read C0:DE:00:00:00:01/random 2A38
      b subscribe C0:DE:00:00:00:01/random 2A37 --count 1
      b advertise --name Inside --service 180F --time 0.2
      """
    let outside = """
      set -e
      mount --bind '\(daemon.folder.path)' /mnt
      mount -t tmpfs none /sys
      exec setpriv --reuid \(Self.stranger) --regid \(Self.stranger) --clear-groups --inh-caps=-all \
      --bounding-set=-all --no-new-privs sh -c "$INSIDE"
      """
    let program = try ChildProcess(
      "/usr/bin/unshare", ["--mount", "--net", "--ipc", "--uts", "sh", "-c", outside], environment: ["INSIDE": inside],
      folder: daemon.folder)
    #expect(try program.exitStatus() == 0, "\(program.errors)")
    let output = program.output
    #expect(output.contains("CapEff:\t0000000000000000") && output.contains("CapBnd:\t0000000000000000"), "\(output)")
    #expect(output.contains("NoNewPrivs:\t1") && output.contains("Uid:\t\(Self.stranger)"), "\(output)")
    #expect(output.contains("Body Sensor Location (2A38)") && output.contains(" bpm"), "\(output)")
    #expect(output.contains("advertising as \"Inside\" on "), "\(output)")
  }

  @Test("(G23) bleshell sessions: all of them for root, itself for others")
  func sessions() throws {
    let daemon = try daemon("policy: { scan: ['everyone'] }")
    let scanning = try start(daemon, "scan", "--time", "0", "--service", "180D")
    let client = try daemon.client()
    let found = try waitForScan(client)
    #expect(found.user == Self.stranger)
    #expect(found.process == Int(scanning.pid))
    #expect(found.name == "bleshell")
    #expect(found.program == "bleshell")
    #expect(found.scan?.services == [0x180D])
    #expect(found.permissions == ["scan"])
    let all = try daemon.bleshell("sessions", "--json").objects()
    #expect(all.count == 3)
    let own = try start(daemon, "sessions", "--json")
    #expect(try own.exitStatus() == 0, "\(own.errors)")
    #expect(own.output.split(separator: "\n").count == 1)
    let table = try daemon.bleshell("sessions")
    #expect(table.lines.first?.contains("PROGRAM") == true)
    #expect(table.output.contains("scan 180D"), "\(table.output)")
    scanning.send(signal: SIGINT)
    #expect(try scanning.exitStatus() == 0)
  }

  @Test("SIGHUP: a session that loses permissions is closed, others continue; an invalid file changes nothing")
  func reload() throws {
    let daemon = try daemon("policy: { scan: ['user:\(Self.stranger)'] }, logLevel: 'info'")
    let client = try daemon.client()
    try client.call(ScanStart.self, .init(duplicates: true))
    let scanning = try start(daemon, "scan", "--time", "0")
    _ = try waitForScan(client)

    try daemon.configure("{ policy: { scan: 'nobody' } }")
    try daemon.reload()
    #expect(daemon.process.errors.contains("the configuration is unchanged"))
    #expect(daemon.process.errors.contains("policy.scan"))
    #expect(try client.call(SessionList.self, .init()).sessions.count == 2)

    try daemon.configure("{ socket: { mode: '0600' }, name: 'Renamed', policy: { scan: [] } }")
    try daemon.reload()
    #expect(try scanning.exitStatus() == 1, "\(scanning.output)")
    #expect(daemon.process.errors.contains("\"socket\" changed"))
    try client.next(ScanReport.self)
    #expect(try client.call(SessionList.self, .init()).sessions.count == 1)
    #expect(try start(daemon, "scan", "--time", "1").exitStatus() == 1)

    try daemon.configure("{ policy: { scan: ['everyone'] }, limits: { perUser: { scans: 1 } } }")
    try daemon.reload()
    let again = try start(daemon, "scan", "--time", "1")
    #expect(try again.exitStatus() == 0, "\(again.errors)")
    let second = try daemon.client()
    #expect(try second.error(ScanStart.self, .init())?.message.contains("limits.perUser.scans") == true)
  }

  /// The session of another program that scans, once there is one.
  private func waitForScan(_ client: SocketClient) throws -> SessionDescription {
    var found: SessionDescription?
    try eventually("another program scans") {
      found = try client.call(SessionList.self, .init()).sessions.first { $0.scan != nil && !$0.mine }
      return found != nil
    }
    return try #require(found)
  }
}
