import ArgumentParser
import BledConnection
import BledLoop
import BlueZ
import Bluetooth
import CSystemd
import EventLoop
import Glibc

/// The process: the bus and bled's socket on one event loop.
final class RunningFacade {
  /// The exit status if another program has the name: systemd is not to try again (sysexits(3), EX_UNAVAILABLE).
  static let nameTaken: Int32 = 69

  private let log = ServiceLog("bled-bluez")
  private let loop: EventLoop
  private let bus: SystemBus
  private let facade: Facade
  private let reception: Reception
  private let file: SettingsFile?
  private var signals: [SignalWatch] = []
  private var isNamed = false
  private var status: Int32 = 0
  /// True if the log says that bled is unavailable.
  private var hasSaidLost = false

  /// - Parameter settings: where the settings of devices are kept; nil: nowhere.
  init(socket: ServiceOptions, settings file: SettingsFile?, loop: EventLoop) throws {
    self.loop = loop
    self.file = file
    let kept: (settings: [String: DeviceSettings], aside: String?)
    do {
      kept = try file?.read() ?? ([:], nil)
    } catch {
      throw ValidationError("devices.json in the state directory cannot be read; mend it, or remove it: \(error)")
    }
    if let aside = kept.aside {
      log.say("devices.json is damaged or too large, and was renamed to \(aside): the settings of devices begin anew")
    }
    bus = try SystemBus(loop)
    var machine = sd_id128_t()
    sd_id128_get_machine(&machine)
    facade = Facade(
      bus: bus, clock: loop,
      connector: SocketConnector(path: socket.socketPath, on: LoopSockets(loop) { [bus] in bus.outbox.isCongested }),
      sockets: LoopPacketSockets(loop), machine: withUnsafeBytes(of: machine) { Hex.encode(Array($0)) },
      host: Self.hostName, settings: kept.settings)
    reception = try Reception(bus, facade.callers, on: loop) { [facade] in facade.handle($0) }
    bus.called = { [unowned self] in reception.receive($0, size: $1) }
    bus.refused = { [unowned self] in reception.refuse($0, $1) }
    bus.signalled = { [unowned self] in facade.handle($0) }
    bus.left = { [unowned self] in
      reception.left($0)
      facade.left($0)
    }
    bus.outbox.stuck = { [unowned self] refused in
      // A new connection begins without the unread messages that the bus keeps of this one.
      end("the bus has read nothing for a minute, and \(refused) calls were refused: bled-bluez begins anew", status: 1)
    }
    bus.named = { [unowned self] in named($0) }
    facade.whenServing = { [unowned self] in ready() }
    facade.settingsChanged = { file?.write($0) }
    file?.failed = { [unowned self] in
      say("devices.json cannot be written; Trusted and Alias are lost with this process: \($0)")
    }
    facade.said = { [unowned self] in say($0) }
    facade.whenLost = { [unowned self] in lost($0) }
  }

  private static var hostName: String {
    var octets = [CChar](repeating: 0, count: 256)
    guard gethostname(&octets, octets.count - 1) == 0 else { return "bled" }
    let name = String(decoding: octets.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    return name.isEmpty ? "bled" : name
  }

  /// Serves until SIGTERM or SIGINT.
  /// - Throws: `EventLoopError` if the bus ends the connection.
  func run() throws -> Int32 {
    for signal in [SIGTERM, SIGINT] {
      signals.append(try SignalWatch(signal, on: loop) { [unowned self] in stop() })
    }
    facade.start()
    // The bus ends the loop with its connection, also while settings are being written.
    defer { file?.finish() }
    try loop.run()
    facade.close()
    bus.outbox.flush()
    loop.discard()
    return status
  }

  /// The adapters are known: programs are served.
  private func ready() {
    hasSaidLost = false
    guard !isNamed else { return say("bled is there again") }
    isNamed = true
    do {
      try bus.requestName()
    } catch {
      end("org.bluez cannot be requested: \(error)", status: 1)
    }
  }

  private func named(_ result: Result<Void, SystemBus.NameTaken>) {
    switch result {
    case .success:
      say("org.bluez is served by bled")
      sd_notify(0, "READY=1")
    case .failure:
      end(
        """
        another program has the name org.bluez, or the bus does not allow it: stop bluetoothd with "systemctl disable \
        --now bluetooth", then start bled-bluez again
        """, status: Self.nameTaken)
    }
  }

  private func lost(_ error: BluetoothError) {
    guard !hasSaidLost else { return }
    hasSaidLost = true
    say("\(error.message); it is tried again each second")
  }

  private func end(_ reason: String, status: Int32) {
    say(reason)
    self.status = status
    stop()
  }

  /// Ends the loop once the settings are written.
  private func stop() {
    guard let file else { return loop.stop() }
    file.whenIdle { [loop] in loop.stop() }
  }

  private func say(_ text: String) { log.say(text) }
}
