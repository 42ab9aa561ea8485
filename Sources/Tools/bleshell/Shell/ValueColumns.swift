import AssignedValues
import Bluetooth
import ValueFormats

/// A table with a column for each value of several characteristics, of one device or several: for a value with a format
/// of the user or the device a column for each of its fields.
struct ValueColumns {
  /// A characteristic: the places of its device and of itself, from 0 on.
  struct Place: Hashable {
    let device: Int
    let attribute: Int
  }

  /// A device, and its characteristics.
  struct Source {
    let name: String
    let address: String
    let attributes: [Attribute]
  }

  private let sources: [Source]

  init(_ sources: [Source]) { self.sources = sources }

  /// The names of the columns: the time, then "DEVICE: CHARACTERISTIC FIELD (UNIT)". Of devices with one name each has
  /// its address, too, of characteristics with one name in a device its handle.
  var heading: String {
    let names = sources.flatMap { source in
      let isUnique = sources.count { $0.name.hasSameOctets(as: source.name) } == 1
      let device = isUnique ? source.name : "\(source.name) \(source.address)"
      return source.attributes.flatMap { attribute in
        let isUnique = source.attributes.count { $0.shortTitle.hasSameOctets(as: attribute.shortTitle) } == 1
        let title = attribute.shortTitle + (isUnique ? "" : " \(attribute.handle.handleText)")
        return attribute.fieldTitles.map { "\(device): \(title)\($0)" }
      }
    }
    return CSV.line(["time", "date"] + names)
  }

  /// A line of the table. The cells of values that are not given, or do not fit their format, are empty.
  /// - Parameter time: In seconds since 1970.
  func row(_ values: [Place: [UInt8]], at time: Double) -> String {
    var cells = ["\(time)", dateText(time)]
    for (device, source) in sources.enumerated() {
      for (index, attribute) in source.attributes.enumerated() {
        let value = values[Place(device: device, attribute: index)]
        cells += value.map { attribute.cells($0) } ?? attribute.fieldTitles.map { _ in "" }
      }
    }
    return CSV.line(cells)
  }
}

extension Attribute {
  /// Its name, or else its UUID.
  fileprivate var shortTitle: String { name ?? uuid.knownName ?? "\(uuid)" }

  /// The rest of the columns' names: " temperature (°C)".
  fileprivate var fieldTitles: [String] {
    guard let format else { return [AssignedQuantity.unit(of: uuid).map { " (\($0))" } ?? ""] }
    return format.fields.map { field in
      (field.name.map { " \($0)" } ?? "") + (field.unit.isEmpty ? "" : " (\(field.unit))")
    }
  }

  /// As many as the titles.
  fileprivate func cells(_ value: [UInt8]) -> [String] {
    guard let format else {
      let meaning = meaning(of: value)
      if let number = meaning?.number { return [numberText(number)] }
      return [meaning.flatMap { $0.isGuess ? nil : $0.text } ?? Hex.encode(value)]
    }
    return format.read(value)?.fields.map { $0.content.cell } ?? fieldTitles.map { _ in "" }
  }
}

extension FormattedValue.Content {
  fileprivate var cell: String {
    switch self {
    case .number(let number): numberText(number)
    case .flag(let flag): "\(flag)"
    case .words(let words): words.joined(separator: " ")
    case .text(let text): text
    }
  }
}
