import ArgumentParser
import BledClient
import BledRPC
import Bluetooth

/// How long to try.
struct TimeoutOption: ParsableArguments {
  @Option(help: "Seconds to look for the device, and again to connect to it; 0: for ever.") var timeout = 15.0

  func validate() throws {
    guard timeout >= 0, timeout.isFinite else { throw ValidationError("--timeout takes seconds, 0 or more") }
  }
}

/// `bleshell connect`
struct ConnectCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "connect", abstract: "Connects to a device.",
    discussion: """
      In the line mode the device becomes the current one and stays connected. As a command of its own it goes over to \
      the line mode on a terminal; elsewhere it ends, and the connection with it, unless --time says how long to hold it. \
      With --keep it holds the connection until Ctrl-C or --time, has it made again whenever it is lost, and tells.
      """)

  @Argument(help: "A name, an address (\"F0:…:F5\", \"F0:…:F5/random\") or an identifier.") var device: String
  @Option(help: "Seconds to hold the connection outside of the line mode.") var time: Double?
  @Flag(help: "Connect again whenever the connection is lost.") var keep = false
  @OptionGroup var timeout: TimeoutOption
  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let connected = try await shell.connect(device, timeout: timeout.timeout, reconnects: keep)
    let link = connected.peripheral.link
    try announce(link, connected, output)
    if keep, !shell.isLineMode {
      try await hold(connected, output)
      await shell.release(connected)
    } else if shell.isLineMode {
      if let former = shell.current, former.peripheral.identifier != link.peripheral { await shell.release(former) }
      shell.choose(connected)
    } else if let time {
      let ended = try await withDeadline(time) {
        for await reason in connected.peripheral.ends { return reason?.message ?? "" }
        return ""
      }
      try Task.checkCancellation()
      if let ended { throw Failure("\(connected.name) disconnected: \(ended)") }
      await shell.release(connected)
    } else if output.isTerminal, !output.json {
      shell.choose(connected)
      try await LineMode(shell: shell).run()
    } else {
      await shell.release(connected)
    }
  }

  /// Tells losses and returns until the time is over, or Ctrl-C.
  private func hold(_ device: Device, _ output: Output) async throws {
    do {
      let ended: Void? = try await withDeadline(time ?? 0) {
        for await change in device.peripheral.changes {
          switch change {
          case .lost(let reason): output.problem("\(device.name) is lost\(reason.map { ": \($0.message)" } ?? "")")
          case .back(let link): try announce(link, device, output)
          }
        }
        try Task.checkCancellation()
      }
      if ended != nil { throw BledError.daemonUnreachable.error("the connection to bled was closed") }
    } catch is CancellationError where time == nil {
      // Ctrl-C is the end that was asked for.
    }
  }

  private func announce(_ link: PeripheralConnect.Result, _ device: Device, _ output: Output) throws {
    guard !output.json else { return try output.object(link) }
    let attempts = link.attempts > 1 ? ", at attempt \(link.attempts)" : ""
    output.line(
      "connected to \(output.styled(Output.clean(device.name), .bold)) (\(link.address) \(link.addressType)) over "
        + "\(link.adapter), MTU \(link.mtu)\(attempts)")
  }
}

/// `bleshell disconnect`
struct DisconnectCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "disconnect", abstract: "Lets go of the current device (in the line mode).")

  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    guard let current = shell.current else { throw Failure("nothing is connected here") }
    shell.choose(nil)
    try await current.peripheral.disconnect()
    let output = output(of: shell)
    if output.json {
      try output.object(PeripheralReference(peripheral: current.peripheral.identifier))
    } else {
      output.line("disconnected from \(Output.clean(current.name))")
    }
  }
}
