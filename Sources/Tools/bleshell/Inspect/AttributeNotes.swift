import BledRPC
import Bluetooth

extension Device {
  /// The facts about attributes besides the tree: the texts of Characteristic User Description (0x2901), enabled
  /// notifications (0x2902), and attributes refused for lack of protection.
  /// - Parameter note: Called for each as soon as it is known.
  func notes(
    on services: [ServiceDescription], note: (UInt16, String) -> Void = { _, _ in }
  ) async -> [UInt16: String] {
    var notes: [UInt16: String] = [:]
    for row in services.rows where row.kind == .descriptor && [0x2901, 0x2902].contains(row.uuid) {
      // An unreadable one has no note, except that it is protected.
      guard !Task.isCancelled, let value = try? await read(row.handle) else { continue }
      var text = meaning(value, of: row.uuid)
      if row.uuid == 0x2902 { text = value.contains { $0 != 0 } ? text.map { "\($0) on" } : nil }
      guard let text else { continue }
      notes[row.handle] = text
      note(row.handle, text)
    }
    return notes.merging(protections.mapValues { "protected (\($0))" }) { $1 }
  }
}

extension Device {
  /// The characteristics of a tree with their names and formats.
  func described(_ services: [ServiceDescription]) async -> [Attribute] {
    var attributes: [Attribute] = []
    for service in services {
      for characteristic in service.characteristics ?? [] where !Task.isCancelled {
        attributes.append(await described(service.attribute(characteristic), characteristic))
      }
    }
    return attributes
  }

  /// The rows of a tree with them.
  func describedRows(_ services: [ServiceDescription]) async -> [AttributeRow] {
    let attributes = await described(services)
    // A faulty device may give a handle twice.
    let known = Dictionary(attributes.map { ($0.handle, $0) }, uniquingKeysWith: { first, _ in first })
    return services.rows.map { row in
      var row = row
      if case .characteristic = row.kind, let found = known[row.handle] {
        (row.name, row.format) = (found.name, found.format)
      } else {
        row.name = naming.name(of: row.uuid)
      }
      return row
    }
  }
}

extension Output {
  /// Prints a tree, with handles, properties and notes aligned.
  func tree(_ rows: [AttributeRow], notes: [UInt16: String]) {
    let width = rows.map { $0.depth * 2 + $0.title.count }.max() ?? 0
    for row in rows {
      let used = row.depth * 2 + row.title.count
      let note = row.depth == 0 ? "" : notes[row.handle].map { "  \($0)" } ?? ""
      let gap = String(repeating: " ", count: width - used + 2)
      line(
        String(repeating: "  ", count: row.depth) + styled(row.title, row.style) + gap + styled(row.rest + note, .dim))
    }
  }
}
