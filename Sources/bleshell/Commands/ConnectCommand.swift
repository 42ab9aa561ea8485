import ArgumentParser
import BledClient
import BledRPC
import Bluetooth

/// The time limit for connecting.
struct TimeoutOption: ParsableArguments {
  @Option(
    name: .customLong("timeout"),
    help: "Seconds for the whole command; without it 15 to look for the device, and 15 to connect to it; 0: no limit.")
  var limit: Double?

  /// The deadline, counted from now.
  var deadline: Deadline { Deadline(limit: limit) }

  func validate() throws {
    guard 0...1e9 ~= limit ?? 0 else {
      throw ValidationError("--timeout must be 0 or more seconds, up to 1000000000")
    }
  }
}

/// `bleshell connect`
struct ConnectCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "connect", abstract: "Connects to a device.",
    discussion: """
      In line mode the device becomes the current one and stays connected, beside others. When run as "bleshell connect" on a \
      terminal, it continues in line mode; otherwise it disconnects and exits, after --time seconds if given. With \
      --keep it holds the connection until Ctrl-C or --time, reconnects whenever the connection is lost, and reports \
      both.
      """)

  @Argument(help: "A name, an address (\"F0:…:F5\", \"F0:…:F5/random\") or an identifier.") var device: String?
  @Option(help: "Instead of a device: a service, by UUID or name; the first device that advertises it is meant.")
  var service: String?
  @Option(help: "Seconds to hold the connection when not in line mode.") var time: Double?
  @Flag(help: "Reconnect whenever the connection is lost.") var keep = false
  @OptionGroup var link: LinkOptions
  @Option(help: "The PHY that the connection is to have.") var phy: PHYChoice?
  @OptionGroup var timeout: TimeoutOption
  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let connected = try await connect(in: shell)
    let link = connected.peripheral.link
    try announce(link, connected, output)
    if keep, !shell.isLineMode {
      try await hold(connected, output)
      await shell.release(connected)
    } else if shell.isLineMode {
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

  private func connect(in shell: Shell) async throws -> Device {
    switch (device, service) {
    case (let device?, nil):
      return try await shell.connect(
        device, within: timeout.deadline, reconnects: keep, parameters: link.wish, phy: phy)
    case (nil, let text?):
      return try await shell.connect(
        service: try serviceUUID(text), within: timeout.deadline, reconnects: keep, parameters: link.wish, phy: phy)
    default: throw Failure("expected a device, or --service; see \"bleshell help connect\"", status: 64)
    }
  }

  /// Reports losses and reconnections until the time is over, or Ctrl-C.
  private func hold(_ device: Device, _ output: Output) async throws {
    do {
      let ended: Void? = try await withDeadline(time ?? 0) {
        for await change in device.peripheral.changes {
          switch change {
          case .lost(let reason):
            output.problem("lost the connection to \(device.name)\(reason.map { ": \($0.message)" } ?? "")")
          case .back(let link): try announce(link, device, output)
          }
        }
        try Task.checkCancellation()
      }
      if ended != nil { throw BledError.daemonUnreachable.error("the connection to bled was closed") }
    } catch is CancellationError where time == nil {
      // Ctrl-C is the regular end.
    }
  }

  private func announce(_ link: PeripheralConnect.Result, _ device: Device, _ output: Output) throws {
    guard !output.json else { return try output.object(link) }
    let attempts = link.attempts > 1 ? ", after \(link.attempts) attempts" : ""
    output.line(
      "connected to \(output.styled(Output.clean(device.name), .bold)) (\(link.address) \(link.addressType)) over "
        + "\(link.adapter), MTU \(link.mtu)\(attempts)")
  }
}
