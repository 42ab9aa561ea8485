import Adapter
import BledCore
import Glibc
import Logging
import NIOCore
import ServiceLifecycle
import SimulatedAdapter

/// Runs the daemon on one event loop from start to orderly end.
struct DaemonService: Service, CustomStringConvertible {
  /// How long clients may take to read their last lines.
  private static let patience = TimeAmount.milliseconds(300)

  let settings: Configuration
  let adapters: [AdapterChoice]
  let eventLoop: any EventLoop
  let logger: Logger

  func run() async throws {
    let socket = try listen()
    let daemon = try await eventLoop.submit { NIOLoopBound(makeDaemon(), eventLoop: eventLoop) }.get()
    let server = try await eventLoop.flatSubmit {
      SocketServer.start(socket, daemon: daemon.value, eventLoop: eventLoop)
    }.get()
    logger.info("bled \(Daemon.version) is ready on \(settings.socket.path)")
    ServiceManager.notify("READY=1")

    try? await gracefulShutdown()
    logger.info("bled stops")
    ServiceManager.notify("STOPPING=1")
    let stopped = eventLoop.makePromise(of: Void.self)
    eventLoop.execute {
      server.value.stopListening()
      daemon.value.stop { stopped.succeed() }
    }
    try await stopped.futureResult.get()
    try await eventLoop.flatSubmit { server.value.closeClients(within: Self.patience) }.get()
  }

  /// The socket that systemd hands over, else one of our own.
  private func listen() throws -> ListeningSocket {
    if let descriptor = try ServiceManager.inheritedSocket() { return ListeningSocket(inherited: descriptor) }
    return try ListeningSocket(path: settings.socket.path, mode: settings.socket.mode, group: settings.socket.group)
  }

  private func makeDaemon() -> Daemon {
    let scheduler = EventLoopScheduler(eventLoop)
    let daemon = Daemon(
      identity: .init(
        name: settings.identity.name ?? Self.machineName, appearance: settings.identity.appearance,
        preferredConnection: settings.preferredConnection.parameters),
      scheduler: scheduler, logger: logger, restoration: restoration, storage: storage())
    let air = Air(scheduler: scheduler, seed: UInt64.random(in: .min ... .max))
    var simulated = 0
    for choice in adapters {
      daemon.add(choice.make(number: simulated, on: eventLoop, scheduler, air: air))
      if case .simulated = choice { simulated += 1 }
    }
    return daemon
  }

  /// The state directory; nil if there is none that can be used.
  private func storage() -> DocumentFolder? {
    let path = settings.store.directory ?? ServiceManager.stateDirectory ?? Configuration.Store.defaultDirectory
    do {
      return try DocumentFolder(path: path, eventLoop: eventLoop)
    } catch {
      logger.warning("bled keeps nothing beyond its end: \(error)")
      return nil
    }
  }

  private var restoration: RestorationSettings {
    let folder = settings.socket.path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let wakes = settings.restoration.wakeDirectory ?? (folder + ["wake"]).joined(separator: "/")
    return RestorationSettings(
      limit: .seconds(settings.restoration.keep), wakes: WakeFolder(path: wakes, logger: logger))
  }

  /// What logs call it; without this they would print all of its settings.
  var description: String { "daemon" }

  private static var machineName: String {
    var octets = [CChar](repeating: 0, count: 256)
    guard gethostname(&octets, octets.count - 1) == 0 else { return "bled" }
    let name = String(decoding: octets.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return name.isEmpty ? "bled" : name
  }
}
