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
    try await shell.use(words(device).device, timeout: timeout.timeout, limit: timeout.limit) { device in
      device.forgetTree()
      let services = try await device.tree()
      if output.json {
        for service in services { try output.object(service) }
      } else {
        Self.lines(services, notes: await Self.notes(services, of: device, output), output).forEach(output.line)
      }
    }
  }

  /// What is known of attributes besides the tree: the texts of Characteristic User Description (0x2901), which
  /// notifications are on (0x2902), and what was refused for want of protection.
  @MainActor private static func notes(
    _ services: [ServiceDescription], of device: Device, _ output: Output
  ) async -> [UInt16: String] {
    let progress = output.progress("Reading the descriptions of \(device.name)")
    defer { progress.end() }
    var notes: [UInt16: String] = [:]
    for characteristic in services.flatMap({ $0.characteristics ?? [] }) {
      for descriptor in characteristic.descriptors ?? [] where [0x2901, 0x2902].contains(descriptor.uuid) {
        // One that cannot be read has no note, except that it is protected.
        guard let value = try? await device.read(descriptor.handle) else { continue }
        if descriptor.uuid == 0x2901 {
          notes[descriptor.handle] = meaning(value, of: descriptor.uuid)
        } else if value.contains(where: { $0 != 0 }) {
          notes[descriptor.handle] = meaning(value, of: descriptor.uuid).map { "\($0) on" }
        }
      }
    }
    return notes.merging(device.protections.mapValues { "protected (\($0))" }) { $1 }
  }

  /// The tree, with handles, properties and notes aligned.
  private static func lines(
    _ services: [ServiceDescription], notes: [UInt16: String], _ output: Output
  ) -> [String] {
    func note(_ handle: UInt16) -> String { notes[handle].map { "  \($0)" } ?? "" }
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
          (
            1, Attribute.title(characteristic.uuid), .name,
            "\(handleText(characteristic.handle))  \(properties)\(note(characteristic.handle))"
          ))
        for descriptor in characteristic.descriptors ?? [] {
          rows.append(
            (2, Attribute.title(descriptor.uuid), .plain, handleText(descriptor.handle) + note(descriptor.handle)))
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
