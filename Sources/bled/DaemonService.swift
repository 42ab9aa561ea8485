import BledCore
import Glibc
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import UnixSignals

/// Runs the daemon on one event loop from start to orderly end. SIGHUP has it read its configuration again.
struct DaemonService: Service, CustomStringConvertible {
  /// How long clients may take to read their last lines.
  private static let patience = TimeAmount.milliseconds(300)

  let source: Settings.Source
  let settings: Settings
  let eventLoop: any EventLoop
  let logger: Logger

  func run() async throws {
    OpenFiles.checkLimit(for: settings.configuration.limits.total[.sessions], logger)
    let hangups = await UnixSignalsSequence(trapping: .sighup)
    let socket = try listen()
    let running = try await eventLoop.submit { NIOLoopBound(makeDaemon(), eventLoop: eventLoop) }.get()
    let server = try await eventLoop.flatSubmit {
      SocketServer.start(socket, daemon: running.value.daemon, eventLoop: eventLoop, logger: logger)
    }.get()
    logger.info("bled \(Daemon.version) is ready on \(settings.configuration.socket.path)")
    ServiceManager.notify("READY=1")

    await withDiscardingTaskGroup { group in
      group.addTask { for await _ in hangups { await reload(running) } }
      try? await gracefulShutdown()
      group.cancelAll()
    }
    logger.info("bled stops")
    ServiceManager.notify("STOPPING=1")
    let stopped = eventLoop.makePromise(of: Void.self)
    eventLoop.execute {
      server.value.stopListening()
      running.value.daemon.stop { stopped.succeed() }
    }
    try await stopped.futureResult.get()
    try await eventLoop.flatSubmit { server.value.closeClients(within: Self.patience) }.get()
  }

  /// Reads the configuration again, beside the event loop: a look-up of users may take its time. A mistake in it changes
  /// nothing.
  private func reload(_ running: NIOLoopBound<RunningDaemon>) async {
    ServiceManager.notifyReloading()
    do {
      let new = try await NIOThreadPool.singleton.runIfActive { [source] in try source.read() }
      try await eventLoop.submit { running.value.apply(new) }.get()
    } catch {
      logger.error("the configuration stays as it was: \(error)")
    }
    ServiceManager.notify("READY=1")
  }

  /// The socket that systemd hands over, else one of our own.
  private func listen() throws -> ListeningSocket {
    if let descriptor = try ServiceManager.inheritedSocket() { return ListeningSocket(inherited: descriptor) }
    let socket = settings.configuration.socket
    return try ListeningSocket(path: socket.path, mode: socket.mode, group: socket.group)
  }

  private func makeDaemon() -> RunningDaemon {
    RunningDaemon(settings, restoration: restoration, storage: storage(), eventLoop: eventLoop, logger: logger)
  }

  /// The state directory; nil if there is none that can be used.
  private func storage() -> DocumentFolder? {
    let path =
      settings.configuration.store.directory ?? ServiceManager.stateDirectory ?? Configuration.Store.defaultDirectory
    do {
      return try DocumentFolder(path: path, eventLoop: eventLoop)
    } catch {
      logger.warning("bled keeps nothing beyond its end: \(error)")
      return nil
    }
  }

  private var restoration: RestorationSettings {
    let configuration = settings.configuration
    return RestorationSettings(
      limit: .seconds(configuration.restoration.keep),
      wakes: WakeFolder(path: configuration.wakeDirectory, logger: logger))
  }

  /// What logs call it; without this they would print all of its settings.
  var description: String { "daemon" }
}
