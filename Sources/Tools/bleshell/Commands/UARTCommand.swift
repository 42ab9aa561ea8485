import ArgumentParser
import BledClient
import BledRPC
import Bluetooth
import Glibc

/// `bleshell uart`
struct UARTCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "uart", abstract: "Uses a device as a serial port: as a terminal, in a pipe, or for another program.",
    usage: "bleshell uart [<device>] [--rx <rx>] [--tx <tx>] [--line-end <line-end>] [--pty [--link <link>]]",
    discussion: """
      Standard input goes to the device, and what it sends to standard output. The services of Nordic, of HM-10 modules \
      and of Microchip are known; --rx and --tx name the characteristics of others. On a terminal a line is sent with \
      Enter. Input from a pipe or a file ends the command, when all of it was sent and nothing was received for a second; \
      with --count or --time the line stays for that long, unless --eof is given. The device and Ctrl-C end it, too. \
      With --pty another program, such as picocom, can open the port.
      """)

  /// The ends of lines.
  enum LineEnd: String, ExpressibleByArgument, CaseIterable {
    case lf, crlf, cr, none

    var octets: [UInt8]? {
      switch self {
      case .lf: nil
      case .crlf: [0x0D, 0x0A]
      case .cr: [0x0D]
      case .none: []
      }
    }
  }

  @Argument(help: "The device (default: the current one).", completion: ShellCompletion.devices)
  var device: [String] = []
  @Option(help: "The characteristic that the device receives on (default: that of a known service, or --tx).")
  var rx: String?
  @Option(help: "The characteristic that the device sends on (default: that of a known service, or --rx).")
  var tx: String?
  @Option(help: "The ends of lines that are sent for line feeds of the input: lf, crlf, cr or none.") var lineEnd =
    LineEnd.lf
  @Flag(help: "Make a pseudo-terminal for another program, instead of standard input and output.") var pty = false
  @Option(help: "With --pty: make a symbolic link to it, with this name.", completion: .file()) var link: String?
  @Option(help: "End after this many octets were received.") var count: Int?
  @Option(help: "End after this many seconds.") var time: Double?
  @Flag(help: "End with the input also where --count or --time is given, or the input is not a pipe or a file.")
  var eof = false
  @OptionGroup(title: "Reaching the device") var connection: ConnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    guard count ?? 1 > 0 else { throw ValidationError("--count must be greater than 0") }
    guard !pty || !eof else { throw ValidationError("--eof and --pty: a pseudo-terminal has no end") }
    guard pty || link == nil else { throw ValidationError("--link goes with --pty") }
    try checkTime(time)
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let deadline = connection.deadline
    try await shell.use(
      words(device).device, within: deadline, over: connection.adapter, onlyConnecting: true
    ) { device in
      let attributes = try await deadline.bound { @MainActor in
        try SerialAttributes(in: try await device.tree(), rx: rx, tx: tx)
      }
      try await carry(device, attributes, output)
    }
  }

  /// True if the end of the input ends the command.
  private var endsWithInput: Bool {
    guard !eof else { return true }
    var state = stat()
    guard !pty, count == nil, time == nil, fstat(STDIN_FILENO, &state) == 0 else { return false }
    return [S_IFIFO, S_IFREG, S_IFSOCK].contains(state.st_mode & S_IFMT)
  }

  @MainActor private func carry(_ device: Device, _ attributes: SerialAttributes, _ output: Output) async throws {
    let client = device.peripheral.client
    let identifier = device.peripheral.identifier
    let releases = client.notifications(GATTReleased.self) { $0.peripheral == identifier }
    let drops = client.observe(GATTValuesDropped.self) { dropped in
      guard dropped.peripheral == identifier else { return }
      output.problem("packets dropped because they were not read: \(dropped.values)")
    } end: { _ in
    }
    defer { drops.cancel() }
    let (receiving, fromDevice) = try await device.peripheral.acquire(
      .handle(attributes.tx.handle), writes: attributes.isOne ? nil : false)
    var (sending, toDevice) = (receiving, fromDevice)
    if !attributes.isOne {
      (sending, toDevice) = try await device.peripheral.acquire(.handle(attributes.rx.handle), values: false)
    }
    // Taken once each, and closed at the end.
    guard let receiver = fromDevice.take(), let sender = attributes.isOne ? receiver : toDevice.take() else { return }
    defer { for descriptor in Set([receiver, sender]) { close(descriptor) } }
    let terminal = pty ? try PseudoTerminal(link: link) : nil
    let sink = try terminal?.descriptor ?? output.descriptor()
    if let terminal {
      output.problem("\(device.name) is at \(terminal.path)\(link.map { ", and at \($0)" } ?? ""); Ctrl-C ends it")
    } else if output.isTerminal, isatty(STDIN_FILENO) == 1 {
      output.problem("lines go to \(device.name); Ctrl-C ends it")
    }
    let pump = ChannelPump(
      sending: sender, receiving: receiver, longest: sending.maximumLength, lineEnd: pty ? nil : lineEnd.octets,
      input: terminal?.descriptor ?? STDIN_FILENO, output: sink,
      dropsUnread: pty, endsWithInput: endsWithInput, most: count)
    let isWhole = try await withDeadline(time ?? 0) {
      await withTaskCancellationHandler {
        await pump.run()
      } onCancel: {
        pump.end()
      }
    }
    // Ctrl-C, the end of the time and the last of the octets are the regular ends.
    guard isWhole == false, !Task.isCancelled else { return }
    let reason: BluetoothError? = try await withDeadline(2) {
      for try await released in releases { return released.reason.bluetoothError }
      return GAPError.disconnected.error("the connection to bled was closed")
    }
    throw reason ?? GAPError.disconnected.error("\(device.name) does not send any more")
  }
}
