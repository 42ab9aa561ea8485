import BledCore
import Logging
import NIOCore

/// The daemon with its adapters, and the settings that are in force. Lives on the event loop.
final class RunningDaemon {
  let daemon: Daemon
  private var settings: Settings
  private let scheduler: EventLoopScheduler
  private let logger: Logger
  private let adapters: RunningAdapters

  /// Makes the daemon and starts its adapters.
  init(
    _ settings: Settings, restoration: RestorationSettings, storage: DocumentFolder?, eventLoop: any EventLoop,
    logger: Logger
  ) {
    self.settings = settings
    self.logger = logger
    scheduler = EventLoopScheduler(eventLoop)
    daemon = Daemon(
      identity: settings.identity, policy: settings.policy, limits: settings.configuration.limits,
      scheduler: scheduler, logger: logger, restoration: restoration, storage: storage)
    adapters = RunningAdapters(eventLoop: eventLoop, scheduler: scheduler, logger: logger)
    adapters.onNew = { [unowned daemon] adapter in daemon.add(adapter) }
    warn(settings)
    adapters.use(settings)
  }

  /// Puts other settings into force, as far as that can be done while programs go on.
  func apply(_ new: Settings) {
    let old = settings
    settings = new
    StandardErrorLog.level = new.configuration.log.level
    warn(new)
    for key in new.configuration.keysForRestart(after: old.configuration) {
      logger.warning("\"\(key)\" changed: that waits for the next start")
    }
    daemon.apply(
      identity: new.identity, policy: new.policy, limits: new.configuration.limits,
      keep: .seconds(new.configuration.restoration.keep))
    adapters.use(new)
    logger.info("the configuration was read again")
  }

  private func warn(_ settings: Settings) {
    for text in settings.unknownAccounts { logger.warning("policy: there is no \(text)") }
  }
}
