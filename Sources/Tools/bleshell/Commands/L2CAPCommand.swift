import ArgumentParser
import BledClient
import BledRPC
import Bluetooth
import Dispatch
import Glibc

/// `bleshell l2cap`
struct L2CAPCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "l2cap", abstract: "Connects standard input and output, or files, with an L2CAP channel.",
    subcommands: [L2CAPOpenCommand.self, L2CAPListenCommand.self])
}

/// The common options of both directions.
struct ChannelOptions: ParsableArguments {
  @Option(help: "The protection that the link must have.") var security: ChannelSecurity?
  @Option(help: "How the channel is set up (default: open: leCreditBased; listen: either).") var mode: ChannelMode?
  @Option(help: "Send this file instead of standard input.") var send: String?
  @Option(help: "Write received octets to this file instead of standard output.") var receive: String?
  @Option(help: "End after this many octets were received.") var count: Int?

  func validate() throws {
    guard count ?? 1 > 0 else { throw ValidationError("--count must be greater than 0") }
  }
}

/// `bleshell l2cap open`
struct L2CAPOpenCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "open", abstract: "Opens a channel to a device.", usage: "bleshell l2cap open [<device>] <psm>",
    discussion: """
      Standard input goes to the device, and what it sends to standard output. When the input is at its end, the channel \
      stays until the device closes it, --count octets came, or Ctrl-C.
      """)

  @Argument(help: "The device (default: the current one), and the number of its listener, 1 to 255.")
  var words: [String]
  @OptionGroup var options: ChannelOptions
  @OptionGroup(title: "Reaching the device") var connection: ConnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let (device, rest) = try words(words, "PSM")
    guard let psm = UInt16(rest[0]) else { throw Failure("the PSM must be a number, 1 to 255", status: 64) }
    let deadline = connection.deadline
    try await shell.use(device, within: deadline, over: connection.adapter, onlyConnecting: true) { device in
      let progress = output.progress("Opening the channel \(psm) to \(device.name)")
      defer { progress.end() }
      let channel = try await deadline.bound {
        try await device.peripheral.openL2CAPChannel(psm: psm, security: options.security, mode: options.mode)
      }
      progress.end()
      try await carry(channel, device.peripheral.client, options, output)
    }
  }
}

/// `bleshell l2cap listen`
struct L2CAPListenCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "listen", abstract: "Waits for a device that opens a channel.",
    discussion: "The command does not advertise: do that with \"bleshell advertise\" or \"serve\".")

  @Option(help: "The number, 128 to 255 (default: one that is free).") var psm: UInt16?
  @Option(help: "The adapter (default: the first).", completion: ShellCompletion.adapters) var adapter: String?
  @OptionGroup var options: ChannelOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let client = try await shell.connection()
    try await shell.requireAdapter()
    let incoming = client.notifications(L2CAPIncoming.self)
    let published = try await client.publishL2CAPChannel(
      psm: psm, security: options.security, mode: options.mode, adapter: adapter)
    output.problem("listening on PSM \(published.psm) of \(published.adapter)")
    for try await offered in incoming where offered.psm == published.psm {
      try await client.unpublishL2CAPChannel(published.psm, adapter: published.adapter)
      return try await carry(try await client.accept(offered), client, options, output)
    }
    throw BledError.daemonUnreachable.error("the connection to bled was closed")
  }
}

/// Carries octets between a channel and the files, until the channel ends.
@MainActor private func carry(
  _ channel: L2CAPChannel, _ client: BledClient, _ options: ChannelOptions, _ output: Output
) async throws {
  let sink = try options.receive.map { try opened($0, O_WRONLY | O_CREAT | O_TRUNC) } ?? output.descriptor()
  guard let descriptor = channel.takeDescriptor() else { return }
  let number = channel.description.channel
  let ends = client.notifications(L2CAPClosed.self) { $0.channel == number }
  let input = try options.send.map { try opened($0, O_RDONLY) } ?? STDIN_FILENO
  let shows = output.isTerminal && (options.send != nil || options.receive != nil)
  let progress = shows ? output.progress("0 octets sent, 0 received") : nil
  defer { progress?.end() }
  let pump = ChannelPump(descriptor, input: input, output: sink, most: options.count)
  let reports = Task {
    while !Task.isCancelled {
      progress?.change("\(pump.sent) octets sent, \(pump.received) received")
      try await Task.sleep(for: .milliseconds(200))
    }
  }
  defer { reports.cancel() }
  let isWhole = await withTaskCancellationHandler {
    await pump.run()
  } onCancel: {
    pump.end()
  }
  close(descriptor)
  try Task.checkCancellation()
  if options.send != nil || options.receive != nil {
    output.problem("\(pump.sent) octets sent, \(pump.received) received")
  }
  // All wanted octets were received: the kind of the channel's end does not matter.
  guard !isWhole else { return }
  for try await end in ends {
    guard let reason = end.reason else { return }
    // The device closes when it has enough: the regular end.
    if reason.data?.name != "disconnected" { throw reason.bluetoothError }
    return output.problem(reason.message)
  }
}

private func opened(_ path: String, _ flags: Int32) throws -> Int32 {
  let descriptor = Glibc.open(path, flags | O_CLOEXEC, 0o666)
  guard descriptor >= 0 else { throw Failure("\(path): \(String(cString: strerror(errno)))") }
  return descriptor
}
