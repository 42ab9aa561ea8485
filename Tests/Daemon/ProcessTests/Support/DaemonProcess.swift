import BledRPC
import Glibc
import TestSupport

/// A `bled` process on simulated adapters or its own host, with a socket in a folder of its own, ready when `init`
/// returns.
final class DaemonProcess {
  let folder: TemporaryFolder
  let process: ChildProcess
  let socketPath: String
  private let air: TestAir
  private let notifications: CInt

  /// - Parameters:
  ///   - scenario: the text of a scenario file; the built-in one if missing.
  ///   - configuration: the text of a configuration file.
  ///   - adapters: the number of adapters on its air.
  ///   - isVirtual: true for virtual adapters.
  ///   - arguments: more arguments.
  init(
    scenario: String? = nil, configuration: String? = nil, adapters: Int = 1,
    isVirtual: Bool = TestAir.isVirtual, arguments: [String] = [], folder: TemporaryFolder? = nil
  ) throws {
    let folder = try folder ?? TemporaryFolder()
    self.folder = folder
    socketPath = "\(folder.path)/bled.sock"
    air = try folder.air(scenario, adapters: adapters, isVirtual: isVirtual)
    var arguments = arguments
    if let configuration {
      try ChildProcess.write(configuration, to: Self.configurationFile(folder))
      arguments += ["--config", Self.configurationFile(folder)]
    }
    let notifyPath = "\(folder.path)/notify.sock"
    // The socket of the previous daemon in this folder.
    unlink(notifyPath)
    notifications = try UnixSocket.bindDatagram(notifyPath)
    process = try ChildProcess(
      "bled", air.arguments + ["--socket", socketPath, "--log-level", "debug"] + arguments,
      environment: ["NOTIFY_SOCKET": notifyPath], folder: folder)
    guard let message = notification(), message == "READY=1" else {
      throw ChildProcess.Failure(description: "bled did not become ready:\n\(process.errors)")
    }
  }

  deinit { close(notifications) }

  /// The name of an adapter, from 0.
  func adapter(_ number: Int) -> String { TestAir.name(number, in: folder.path) }

  /// The next message that the daemon sends to the service manager.
  func notification() -> String? {
    guard Patience.wait(for: notifications) else { return nil }
    var octets = [UInt8](repeating: 0, count: 1024)
    let count = recv(notifications, &octets, octets.count, 0)
    return String(decoding: octets.prefix(max(count, 0)), as: UTF8.self)
  }

  /// Reads the waiting messages to the service manager, so that it has room for others.
  func skipNotifications() {
    var octets = [UInt8](repeating: 0, count: 1024)
    while recv(notifications, &octets, octets.count, Int32(MSG_DONTWAIT)) >= 0 {}
  }

  /// Writes another configuration into the file that the daemon was given.
  func configure(_ configuration: String) throws {
    try ChildProcess.write(configuration, to: Self.configurationFile(folder))
  }

  /// Makes the daemon reload its configuration, and waits until it has.
  func reload() throws {
    process.send(signal: SIGHUP)
    guard notification()?.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") == true, notification() == "READY=1" else {
      throw ChildProcess.Failure(description: "bled did not read its configuration again:\n\(process.errors)")
    }
  }

  private static func configurationFile(_ folder: TemporaryFolder) -> String { "\(folder.path)/bled.json" }

  /// A device goes out of range, with its link.
  func vanish(_ device: String) throws {
    guard TestAir.isOnOwnHost else { return _ = try client().call(SimulationVanish.self, .init(device: device)) }
    try air.commandNow(.vanish, device)
  }

  /// A device that has vanished returns.
  func comeBack(_ device: String) throws {
    guard TestAir.isOnOwnHost else { return _ = try client().call(SimulationComeBack.self, .init(device: device)) }
    try air.commandNow(.comeBack, device)
  }

  /// A new client.
  func client() throws -> SocketClient { try SocketClient(socketPath) }
}

/// The few socket calls that tests need.
enum UnixSocket {
  static func connect(_ path: String) throws -> CInt {
    let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard try withAddress(path, { Glibc.connect(descriptor, $0, $1) }) == 0 else {
      defer { close(descriptor) }
      throw ChildProcess.Failure(description: "connect \(path): \(String(cString: strerror(errno)))")
    }
    return descriptor
  }

  static func bindDatagram(_ path: String) throws -> CInt { try bind(path, SOCK_DGRAM) }

  static func listen(_ path: String) throws -> CInt {
    let descriptor = try bind(path, SOCK_STREAM)
    guard Glibc.listen(descriptor, 16) == 0 else { throw ChildProcess.Failure(description: "listen: \(errno)") }
    return descriptor
  }

  /// A socket file without a listening process.
  static func leaveStale(_ path: String) throws { close(try bind(path, SOCK_STREAM)) }

  /// An empty regular file.
  static func touch(_ path: String) throws {
    guard let file = fopen(path, "w") else { throw ChildProcess.Failure(description: "\(path): \(errno)") }
    fclose(file)
  }

  private static func bind(_ path: String, _ type: __socket_type) throws -> CInt {
    let descriptor = socket(AF_UNIX, CInt(type.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard try withAddress(path, { Glibc.bind(descriptor, $0, $1) }) == 0 else {
      throw ChildProcess.Failure(description: "bind \(path): \(errno)")
    }
    return descriptor
  }

  private static func withAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
  ) throws -> CInt {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw ChildProcess.Failure(description: "\(path) is too long for a socket")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
