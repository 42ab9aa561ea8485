import ArgumentParser
import BledRPC
import Bluetooth
import MCUmgr

/// `bleshell mcumgr`
struct MCUmgrCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "mcumgr", abstract: "Manages a device with MCUmgr: images, restart, shell.",
    usage: """
      bleshell mcumgr [<device>] images | parameters | reset | confirm | erase
      bleshell mcumgr [<device>] echo <text>
      bleshell mcumgr [<device>] shell <command> ...
      """,
    discussion: """
      "images" lists the images in the slots, "confirm" keeps the one that runs, and "erase" removes the other one; \
      "dfu" brings a new one. "parameters" shows the device's buffers. "shell" runs a command of the device, and fails \
      if that does; give its options behind "--".
      """)

  /// The action of the device.
  enum Action: String, CaseIterable { case echo, images, reset, confirm, erase, parameters, shell }

  @Argument(help: "The device (default: the current one), the action, and its words.") var words: [String] = []
  @OptionGroup(title: "Reaching the device") var connection: ConnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let (device, action, rest) = try parsed()
    try await shell.use(device, within: connection.deadline, over: connection.adapter) { device in
      let progress = output.progress("Waiting for \(device.name)")
      defer { progress.end() }
      try await device.manage { session in
        let answer = try await session.call(
          Self.request(action, rest), within: action == .erase ? .seconds(30) : .seconds(5),
          repeats: ![.shell, .reset, .erase].contains(action))
        progress.end()
        try Self.show(answer, of: action, output)
      }
    }
  }

  private func parsed() throws -> (device: String?, action: Action, rest: [String]) {
    // A device with the name of an action is named by its address.
    let first = words.first.flatMap(Action.init(rawValue:))
    let place = first == nil ? 1 : 0
    guard let action = first ?? words.dropFirst().first.flatMap(Action.init(rawValue:)) else {
      let names = Action.allCases.map(\.rawValue).joined(separator: ", ")
      throw Failure("expected [DEVICE] and an action, one of \(names); see \"bleshell help mcumgr\"", status: 64)
    }
    let rest = Array(words.dropFirst(place + 1))
    switch action {
    case .echo where rest.count != 1: throw Failure("echo needs a TEXT, in one word or in quotes", status: 64)
    case .shell where rest.isEmpty: throw Failure("shell needs a COMMAND of the device", status: 64)
    case .images, .reset, .confirm, .erase, .parameters:
      guard rest.isEmpty else { throw Failure("\(action) has no words behind it", status: 64) }
    default: break
    }
    return (place == 1 ? words.first : nil, action, rest)
  }

  private static func request(_ action: Action, _ rest: [String]) -> ManagementRequest {
    switch action {
    case .echo: .echo(rest.first ?? "")
    case .images: .imageState
    case .reset: .reset
    case .confirm: .setImageState(hash: nil, confirm: true)
    case .erase: .erase(slot: 1)
    case .parameters: .parameters
    case .shell: .shell(rest)
    }
  }

  @MainActor private static func show(_ answer: ManagementFrame, of action: Action, _ output: Output) throws {
    switch action {
    case .echo:
      let text = answer.payload["r"]?.string ?? ""
      if output.json { try output.object(["text": text]) } else { output.line(Output.clean(text)) }
    case .images, .confirm: try show(try ImageState.list(answer), output)
    case .reset: try done("it restarts", output)
    case .erase: try done("the slot is erased", output)
    case .parameters:
      guard let parameters = ManagementParameters(answer) else { throw Failure("the device does not say") }
      if output.json {
        try output.object(["bufferSize": parameters.bufferSize, "bufferCount": parameters.bufferCount])
      } else {
        output.line("buffers: \(parameters.bufferCount) of \(parameters.bufferSize) octets")
      }
    case .shell:
      let (text, code) = (answer.payload["o"]?.string ?? "", answer.payload["ret"]?.signedInteger ?? 0)
      if output.json {
        try output.object(["output": .text(text), "code": .integer(code)] as JSONValue)
      } else {
        var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        if lines.last?.isEmpty == true { lines.removeLast() }
        for line in lines { output.line(Output.clean(String(line))) }
      }
      guard code == 0 else { throw Failure("the command failed on the device, with the code \(code)") }
    }
  }

  private static func done(_ text: String, _ output: Output) throws {
    if output.json { try output.object(Empty()) } else { output.line(text) }
  }

  @MainActor private static func show(_ images: [ImageState], _ output: Output) throws {
    var table = Table(
      .init(heading: "SLOT"), .init(heading: "VERSION"), .init(heading: "STATE"), .init(heading: "HASH"))
    for image in images {
      let states = [
        (image.isActive, "runs"), (image.isConfirmed, "confirmed"),
        (image.isPending, image.isPermanent ? "from the next reset on" : "tested at the next reset"),
        (!image.isBootable, "cannot be started"),
      ]
      let hash = image.hash.map { Hex.encode($0) }
      if output.json {
        try output.object(
          [
            "image": .integer(image.image), "slot": .integer(image.slot), "version": .text(image.version),
            "hash": hash.map { .text($0) } ?? .null, "active": .bool(image.isActive),
            "confirmed": .bool(image.isConfirmed), "pending": .bool(image.isPending),
            "permanent": .bool(image.isPermanent), "bootable": .bool(image.isBootable),
          ] as JSONValue)
      } else {
        let slot = image.image == 0 ? "\(image.slot)" : "\(image.image)/\(image.slot)"
        table.rows.append([
          .init(text: slot), .init(text: Output.clean(image.version), style: .bold),
          .init(text: states.filter(\.0).map(\.1).joined(separator: ", ")), .init(text: hash ?? "-"),
        ])
      }
    }
    if !output.json { table.lines(output).forEach(output.line) }
  }
}
