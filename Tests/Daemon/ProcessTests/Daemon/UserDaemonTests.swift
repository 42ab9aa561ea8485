import BledRPC
import FoundationEssentials
import Glibc
import Testing

/// A daemon that an ordinary user starts, and its clients: no option gives the path of the socket. Needs root, to
/// become that user, and a system without a daemon of its own.
@Suite(
  .enabled(
    if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0 && access(SocketPath.system, F_OK) != 0,
    "needs root, setpriv, and no bled on this system"))
struct UserDaemonTests {
  private static let user: uid_t = 54_323

  @Test func theyMeetWithoutOptions() throws {
    let folder = try TemporaryFolder()
    let (home, runtime) = ("\(folder.path)/home", "\(folder.path)/run")
    chmod(folder.path, 0o711)
    for path in [home, runtime] { #expect(mkdir(path, 0o700) == 0 && chown(path, Self.user, Self.user) == 0) }
    defer { for path in [home, runtime] { try? FileManager.default.removeItem(atPath: path) } }
    let environment = [
      "HOME": home, "XDG_RUNTIME_DIR": runtime, "XDG_STATE_HOME": "", "STATE_DIRECTORY": "", "RUNTIME_DIRECTORY": "",
      "BLED_SOCKET": "",
    ]
    func start(_ program: String, _ arguments: String...) throws -> ChildProcess {
      let identity = ["--reuid", "\(Self.user)", "--regid", "\(Self.user)", "--clear-groups"]
      return try ChildProcess(
        "/usr/bin/setpriv", identity + ["\(ChildProcess.products)/\(program)"] + arguments, environment: environment,
        folder: folder)
    }
    // A gateway may be started first.
    let gateway = try start("bled-hid")
    try eventually("the gateway waits") { gateway.errors.contains("simulated); it is tried again each second") }
    let daemon = try start("bled", "--adapter", "simulated")
    try eventually("the daemon is ready") { daemon.errors.contains("is ready on \(runtime)/bled/bled.sock") }
    try eventually("the gateway has a session") {
      let sessions = try start("bleshell", "sessions", "--json")
      return try sessions.exitStatus() == 0 && sessions.output.contains("\"HID\"")
    }
    gateway.send(signal: SIGTERM)
    #expect(try gateway.exitStatus() == 0)
    let client = try start("bleshell", "adapters", "--json")
    #expect(try client.exitStatus() == 0, "\(client.errors)")
    #expect(client.output.contains("simulated"))
    #expect(access("\(home)/.local/state/bled", F_OK) == 0)
    // "su" leaves the user's directory in root's environment.
    let root = try ChildProcess("bleshell", ["adapters"], environment: environment, folder: folder)
    #expect(try root.exitStatus() != 0)
    #expect(root.errors.contains("no socket \(SocketPath.system)"), "\(root.errors)")
    let keys = try ChildProcess(
      "bleshell", ["pairing", "import", "--from", folder.path, "--socket", "\(runtime)/bled/bled.sock"],
      environment: environment, folder: folder)
    #expect(try keys.exitStatus() != 0)
    #expect(keys.errors.contains("the keys stay here: this daemon is one of user \(Self.user)"), "\(keys.errors)")
    daemon.send(signal: SIGTERM)
    #expect(try daemon.exitStatus() == 0)
    let late = try start("bleshell", "adapters")
    #expect(try late.exitStatus() != 0)
    #expect(late.errors.contains("by hand: bled --adapter hci0 (without"), "\(late.errors)")
  }

  @Test("without a home it keeps no state, not the system's either, and warns nobody", arguments: ["", "/none"])
  func homeless(home: String) throws {
    let folder = try TemporaryFolder()
    let runtime = "\(folder.path)/run"
    chmod(folder.path, 0o711)
    #expect(mkdir(runtime, 0o700) == 0 && chown(runtime, Self.user, Self.user) == 0)
    defer { try? FileManager.default.removeItem(atPath: runtime) }
    let environment = [
      "HOME": home, "XDG_RUNTIME_DIR": runtime, "XDG_STATE_HOME": "", "STATE_DIRECTORY": "", "RUNTIME_DIRECTORY": "",
    ]
    let identity = ["--reuid", "\(Self.user)", "--regid", "\(Self.user)", "--clear-groups"]
    let daemon = try ChildProcess(
      "/usr/bin/setpriv", identity + ["\(ChildProcess.products)/bled", "--adapter", "simulated"],
      environment: environment, folder: folder)
    try eventually("the daemon is ready") { daemon.errors.contains("is ready on \(runtime)/bled/bled.sock") }
    daemon.send(signal: SIGTERM)
    #expect(try daemon.exitStatus() == 0)
    #expect(daemon.errors.contains(" info bled keeps no state across restarts"), "\(daemon.errors)")
    #expect(!daemon.errors.contains(" warning "), "\(daemon.errors)")
    #expect(!daemon.errors.contains("/var/lib/bled"), "\(daemon.errors)")
  }
}
