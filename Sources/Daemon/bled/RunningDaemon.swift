import BledCore
import BuildIdentity
import EventLoop
import Glibc
import Controllers
import Logging

/// The daemon from start to orderly end, on one event loop: with its socket, its adapters, and the settings in force.
final class RunningDaemon {
  /// The time for clients to read their last lines.
  private static let timeout = Duration.milliseconds(300)

  private let source: Settings.Source
  private var settings: Settings
  private let loop: EventLoop
  private let logger: Logger
  private let worker: Worker
  private let daemon: Daemon
  private let adapters: RunningAdapters
  private let clock: DaemonClock
  /// The simulation for test commands.
  private var simulation: RunningSimulation?
  private var socket: ListeningSocket?
  private var server: SocketServer?
  /// The socket for fetching L2CAP channels by token; nil if there is none.
  private var channelSocket: ChannelSocket?
  private var signals: [SignalWatch] = []
  private var isStopping = false
  /// SIGHUP was received while the configuration was being read.
  private var isReading = false
  private var mustReadAgain = false

  /// Makes the daemon; nothing happens before `run`.
  init(_ settings: Settings, from source: Settings.Source, loop: EventLoop, logger: Logger) {
    self.source = source
    self.settings = settings
    self.loop = loop
    self.logger = logger
    worker = Worker(loop: loop)
    let clock = DaemonClock(settings, loop: loop)
    let scheduler = clock.scheduler
    self.clock = clock
    var identity = settings.identity
    // All adapters share one GATT service.
    identity.hasEnhancedBearers =
      settings.hasKernelAdapters ? KernelAdapter.mayListen(on: EnhancedBearers.psm) : settings.hasHostAdapters
    daemon = Daemon(
      identity: identity, policy: settings.policy, limits: settings.configuration.limits,
      scheduler: scheduler, logger: logger, restoration: Self.restoration(settings, logger),
      storage: Self.storage(settings, worker, logger), makeIdentifier: clock.makeIdentifier, commit: Build.commit)
    daemon.setPairing(settings.configuration.pairing.policy)
    daemon.setLinks(settings.configuration.links.defaults)
    daemon.setPrivacy(settings.configuration.privacy.rotation)
    adapters = RunningAdapters(
      publicAddresses: settings.configuration.publicAddresses.byAdapter,
      spareAddress: { [unowned daemon] name in daemon.spareAddress(of: name) }, loop: loop, scheduler: scheduler,
      seed: clock.seed, logger: logger)
    adapters.onNew = { [unowned daemon] adapter in daemon.add(adapter) }
  }

  /// Serves clients until SIGTERM or SIGINT. SIGHUP reloads the configuration.
  /// - Parameter ready: the descriptor to notify when clients can connect.
  /// - Throws: `SocketError`, `ServiceManager.Problem` or `EventLoopError`, with the remedy.
  func run(telling ready: ReadyDescriptor?) throws {
    OpenFiles.checkLimit(for: settings.configuration.limits.total[.sessions], logger)
    for signal in [SIGTERM, SIGINT] {
      signals.append(try SignalWatch(signal, on: loop) { [unowned self] in stop() })
    }
    signals.append(try SignalWatch(SIGHUP, on: loop) { [unowned self] in reload() })
    let socket = try listen()
    self.socket = socket
    warn(settings)
    adapters.use(settings)
    if !adapters.simulated.isEmpty || !adapters.virtualAir.adapters.isEmpty {
      simulation = RunningSimulation(adapters, clock)
      daemon.simulation = simulation
    }
    // After the adapters' first events, so no client finds present adapters absent.
    var failure: EventLoopError?
    _ = loop.schedule(at: EventLoop.now) { [unowned self] in
      clock.settle()
      do throws(EventLoopError) {
        try serve(socket)
        ready?.notify()
      } catch {
        failure = error
        loop.stop()
      }
    }
    defer { loop.discard() }
    try loop.run()
    if let failure { throw failure }
  }

  private func serve(_ socket: ListeningSocket) throws(EventLoopError) {
    guard !isStopping else { return }
    serveChannels()
    server = try SocketServer(socket, daemon: daemon, loop: loop, logger: logger)
    logger.info("bled \(Build.text) is ready on \(settings.socketPath)")
    ServiceManager.notify("READY=1")
  }

  /// Listens for programs that fetch channels by token. Everything else works without that socket.
  private func serveChannels() {
    daemon.passChannels(on: loop)
    let path = ChannelSocket.path(beside: settings.socketPath)
    let options = settings.configuration.socket
    do {
      let socket = try ListeningSocket(path: path, mode: options.mode, group: options.group)
      channelSocket = try ChannelSocket(socket, path: path, daemon: daemon, loop: loop, logger: logger)
    } catch {
      logger.warning("programs cannot fetch L2CAP channels by token: \(error)")
    }
  }

  private func stop() {
    guard !isStopping else { return }
    isStopping = true
    logger.info("stopping")
    ServiceManager.notify("STOPPING=1")
    if let server { server.stopListening() } else { socket?.removeFile() }
    channelSocket?.close()
    clock.release()
    daemon.stop { [unowned self] in
      guard let server else { return loop.stop() }
      server.closeClients(within: Self.timeout) { [unowned self] in loop.stop() }
    }
  }

  // MARK: The configuration

  /// Reloads the configuration outside of the event loop: looking up users may take long. An error in it changes
  /// nothing.
  private func reload() {
    guard !isStopping else { return }
    guard !isReading else { return mustReadAgain = true }
    isReading = true
    ServiceManager.notifyReloading()
    worker.submit { [source] in
      try source.read()
    } _: { [unowned self] result in
      isReading = false
      switch result {
      case .success(let new): apply(new)
      case .failure(let error): logger.error("the configuration is unchanged: \(error)")
      }
      ServiceManager.notify("READY=1")
      if mustReadAgain {
        mustReadAgain = false
        reload()
      }
    }
  }

  /// Applies other settings, as far as possible while programs continue.
  private func apply(_ new: Settings) {
    let old = settings
    settings = new
    StandardErrorLog.level = new.configuration.log.level
    warn(new)
    for key in new.configuration.keysForRestart(after: old.configuration) {
      logger.warning("\"\(key)\" changed: it takes effect at the next start")
    }
    daemon.apply(
      identity: new.identity, policy: new.policy, limits: new.configuration.limits,
      retention: .seconds(new.configuration.restoration.keep))
    daemon.setPairing(new.configuration.pairing.policy)
    daemon.setLinks(new.configuration.links.defaults)
    adapters.use(new)
    logger.info("the configuration was reloaded")
  }

  private func warn(_ settings: Settings) {
    if settings.configuration.pairing.policy.hasPasskey {
      logger.warning("\"pairing\" uses a fixed passkey, which can be guessed by repeated attempts")
    }
    for text in settings.unknownAccounts { logger.warning("policy: there is no \(text)") }
  }

  // MARK: Starting

  /// The socket passed by systemd, else our own.
  private func listen() throws -> ListeningSocket {
    if let descriptor = try ServiceManager.inheritedSocket() { return ListeningSocket(inherited: descriptor) }
    let socket = settings.configuration.socket
    return try ListeningSocket(path: settings.socketPath, mode: socket.mode, group: socket.group)
  }

  /// The state directory; nil without a usable one.
  private static func storage(_ settings: Settings, _ worker: Worker, _ logger: Logger) -> DocumentFolder? {
    let configured = settings.configuration.store.directory
    // Without a request for state its absence causes no warning.
    let level: Logger.Level = configured == nil && DefaultPaths.isUsers ? .info : .warning
    guard let path = configured ?? DefaultPaths.state else {
      logger.log(level: level, "bled keeps no state across restarts: there is no home directory")
      return nil
    }
    do {
      return try DocumentFolder(path: path, worker: worker)
    } catch {
      logger.log(level: level, "bled keeps no state across restarts: \(error)")
      return nil
    }
  }

  private static func restoration(_ settings: Settings, _ logger: Logger) -> RestorationSettings {
    let configuration = settings.configuration
    return RestorationSettings(
      limit: .seconds(configuration.restoration.keep),
      wakes: WakeFolder(path: configuration.wakeDirectory, logger: logger))
  }
}
