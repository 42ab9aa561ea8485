import BledConnection
import BledLoop
import Bluetooth
import CSystemd
import ESPHome
import EventLoop
import Glibc

/// The process: the clients' sockets and bled's on one event loop.
final class RunningProxy {
  private let configuration: Configuration
  private let isEncrypted: Bool
  private let log = ServiceLog("bled-esphome")
  private let loop: EventLoop
  private let sockets: LoopSockets
  private let proxy: Proxy
  private let report = ServiceReport()
  private var lines = ProxyReport()
  private var listener: ClientListener?
  /// The connection to Home Assistant, while it is being made.
  private var outgoing: OutgoingSocket?
  private var signals: [SignalWatch] = []
  private var status: Int32 = 0
  /// True if the log says that bled is unavailable.
  private var hasSaidLost = false

  /// - Parameter key: nil: without encryption.
  init(_ configuration: Configuration, key: [UInt8]?, socket: ServiceOptions, loop: EventLoop) {
    self.configuration = configuration
    isEncrypted = key != nil
    self.loop = loop
    sockets = LoopSockets(loop)
    proxy = Proxy(configuration.settings(key: key), SocketConnector(path: socket.socketPath, on: sockets), loop)
    proxy.whenWaiting = { [unowned self] in
      hasSaidLost = false
      reportBled(isProblem: true, $0)
      say($0)
    }
    proxy.whenLost = { [unowned self] in lost($0) }
  }

  /// Serves until SIGTERM or SIGINT.
  /// - Returns: the exit status.
  func run() throws -> Int32 {
    for signal in [SIGTERM, SIGINT] {
      signals.append(try SignalWatch(signal, on: loop) { [unowned self] in loop.stop() })
    }
    signals.append(try SignalWatch(SIGUSR1, on: loop) { [unowned self] in sayCounters() })
    proxy.whenReady = { [unowned self] in ready($0) }
    if let address = configuration.homeAssistant {
      proxy.whenConnecting = { [unowned self] in connect(to: address) }
      proxy.whenCancelled = { [unowned self] in outgoing = nil }
      proxy.whenOutgoing = { [unowned self] in sayOutgoing($0) }
    }
    proxy.start()
    sd_notify(0, "READY=1")
    try loop.run()
    listener = nil
    proxy.close()
    sayCounters()
    loop.discard()
    return status
  }

  /// Prints the file for Avahi.
  /// - Returns: the exit status.
  func printAvahiService() throws -> Int32 {
    proxy.whenReady = { [unowned self] device in
      print(AvahiService.text(device, port: configuration.port, isEncrypted: isEncrypted))
      loop.stop()
    }
    proxy.whenLost = { [unowned self] in end($0.message) }
    proxy.start()
    try loop.run()
    proxy.close()
    loop.discard()
    return status
  }

  private func ready(_ device: DeviceDescription) {
    hasSaidLost = false
    do {
      if listener == nil {
        listener = try ClientListener(try configuration.listen.listen(), on: loop) {
          [unowned self] in accept($0)
        }
      }
      let protection = isEncrypted ? "encrypted" : "not encrypted, from this machine alone"
      let text = "\"\(device.name)\" (\(device.address)) waits for clients on port \(configuration.port), \(protection)"
      reportBled(isProblem: false, text)
      say(text)
    } catch {
      end("port \(configuration.port) cannot be opened: \(error); choose another \"port\" or \"listen\"")
    }
  }

  private func accept(_ socket: Socket) {
    // Without memory for the watch the client is disconnected.
    guard let stream = try? TCPStream(socket, on: sockets), let client = proxy.accept(stream) else { return }
    stream.start(received: { client.receive($0) }, ended: { client.ended() })
  }

  // MARK: To Home Assistant

  private func connect(to address: ListenAddress) {
    do throws(Errno) {
      outgoing = try OutgoingSocket(to: address, on: sockets) { [unowned self] in connected($0) }
    } catch {
      connectingFailed(error)
    }
  }

  private func connected(_ result: Result<Socket, Errno>) {
    outgoing = nil
    do throws(Errno) {
      let stream = try TCPStream(try result.get(), on: sockets)
      guard let client = proxy.opened(stream) else { return }
      stream.start(received: { client.receive($0) }, ended: { client.ended() })
    } catch {
      connectingFailed(error)
    }
  }

  private func connectingFailed(_ error: Errno) {
    sayOutgoing(isProblem: true, "cannot connect to Home Assistant: \(error)")
    proxy.openFailed()
  }

  private func sayOutgoing(_ state: Proxy.OutgoingState) {
    switch state {
    case .connected: sayOutgoing(isProblem: false, "Home Assistant is connected")
    case .refused:
      sayOutgoing(
        isProblem: true,
        "Home Assistant ends the connection: add this proxy there with the key of `bled-esphome --show-key`; it "
          + "accepts connections of proxies since 2026.11")
    case .timeout: sayOutgoing(isProblem: true, "cannot connect to Home Assistant: it does not answer")
    }
  }

  /// Says the state of the connection to Home Assistant if it has changed.
  private func sayOutgoing(isProblem: Bool, _ text: String) {
    let line = ProxyReport.Line(isProblem: isProblem, text)
    guard lines.homeAssistant != line else { return }
    lines.homeAssistant = line
    reportLine()
    say(text)
  }

  private func reportBled(isProblem: Bool, _ text: String) {
    lines.bled = ProxyReport.Line(isProblem: isProblem, text)
    reportLine()
  }

  private func reportLine() {
    if let line = lines.line { report.say(line.isProblem ? .problem : .ok, line.text) }
  }

  private func lost(_ error: BluetoothError) {
    guard !hasSaidLost else { return }
    hasSaidLost = true
    reportBled(isProblem: true, error.message)
    say("\(error.message); it is tried again each second")
  }

  private func end(_ reason: String) {
    report.say(.problem, reason)
    say(reason)
    status = 1
    loop.stop()
  }

  private func sayCounters() {
    let counters = proxy.counters
    say(
      """
      \(proxy.clientCount) clients now, \(counters.accepted) accepted, \(counters.refused) refused, \
      \(counters.silent) silent, \(counters.wrongKeys) with a wrong key, \(counters.malformed) malformed, \
      \(counters.slow) too slow; \(counters.batchesDropped) batches of advertisements dropped, \
      \(counters.requestsRefused) requests refused
      """)
  }

  private func say(_ text: String) { log.say(text) }
}
