import ArgumentParser
import BledRPC
import Bluetooth

/// `bleshell services`
struct ServicesCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "services", abstract: "Shows the services, characteristics and descriptors of a device.",
    usage: "bleshell services [<device>]")

  @Argument(help: "The device (default: the current one).") var device: [String] = []
  @OptionGroup var timeout: TimeoutOption
  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    try await shell.use(words(device).device, timeout: timeout.timeout) { device in
      device.forgetTree()
      let services = try await device.tree()
      if output.json {
        for service in services { try output.object(service) }
      } else {
        Self.lines(services, output).forEach(output.line)
      }
    }
  }

  /// The tree, with handles and properties aligned.
  static func lines(_ services: [ServiceDescription], _ output: Output) -> [String] {
    var rows: [(indent: Int, title: String, style: Output.Style, rest: String)] = []
    for service in services {
      let kind = service.primary ? "" : "  secondary"
      rows.append((0, Attribute.title(service.uuid), .bold, range(service.handle, service.end) + kind))
      for included in service.includes ?? [] {
        rows.append((1, "includes \(Attribute.title(included.uuid))", .dim, range(included.handle, included.end)))
      }
      for characteristic in service.characteristics ?? [] {
        let properties = characteristic.properties.joined(separator: ", ")
        rows.append(
          (1, Attribute.title(characteristic.uuid), .name, "\(handleText(characteristic.handle))  \(properties)"))
        for descriptor in characteristic.descriptors ?? [] {
          rows.append((2, Attribute.title(descriptor.uuid), .plain, handleText(descriptor.handle)))
        }
      }
    }
    let width = rows.map { $0.indent * 2 + $0.title.count }.max() ?? 0
    return rows.map { row in
      let used = row.indent * 2 + row.title.count
      let gap = String(repeating: " ", count: width - used + 2)
      return String(repeating: "  ", count: row.indent) + output.styled(row.title, row.style) + gap
        + output.styled(row.rest, .dim)
    }
  }

  private static func range(_ first: UInt16, _ last: UInt16) -> String { "\(handleText(first))…\(handleText(last))" }
}
