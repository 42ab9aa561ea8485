import AssignedValues
import Bluetooth
import Fuzzing
import ValueFormats

/// Formats and files of names that people write, and values that devices send: each is read or refused without a trap,
/// a value is read the same way twice, and a line that was added to a file is found there.
@main
enum Values {
  static func main() {
    fuzz { octets in
      var input = FuzzInput(octets)
      let choice = input.octet()
      let length = Int(input.octet())
      let rest = input.remainder()
      let text = String(decoding: rest.prefix(length), as: UTF8.self)
      let value = Array(rest.dropFirst(length))
      switch choice & 3 {
      case 0, 1: checkFormat(text, value)
      case 2: checkNames(String(decoding: rest, as: UTF8.self))
      default: checkPresentation(rest)
      }
    }
  }

  private static func checkFormat(_ text: String, _ value: [UInt8]) {
    guard let format = try? ValueFormat(text) else { return }
    invariant(!format.fields.isEmpty, "a format without fields")
    check(format, value)
    // Octets behind a value of fixed length change nothing.
    guard let read = format.read(value), let longer = format.read(value + [0]) else { return }
    let isFixed = format.fields.allSatisfy { field in
      switch field.type {
      case .text(nil), .octets(nil): false
      default: true
      }
    }
    if isFixed { invariant(read == longer, "\(read) became \(longer)") }
  }

  private static func check(_ format: ValueFormat, _ value: [UInt8]) {
    guard let read = format.read(value) else { return }
    invariant(read.fields.count == format.fields.count, "fields are missing")
    invariant(read == format.read(value), "read twice, and it differs")
    for field in read.fields {
      if case .number(let number) = field.content { invariant(number.isFinite, "\(number)") }
    }
    let meaning = ValueMeaning(of: 0xFFF1, value: value, format: format)
    invariant(meaning?.text == read.text && meaning?.isGuess == false, "another meaning")
  }

  private static func checkNames(_ text: String) {
    guard let list = try? NameList(text) else { return }
    let key = NameList.Key(uuid: 0x2A6E)
    let changed = NameList.replacing(key, in: text, with: NameList.line(key, name: "Added", format: "u8"))
    guard let again = try? NameList(changed) else { return invariant(false, "the changed file cannot be read") }
    invariant(again.name(of: 0x2A6E) == "Added", "the line is not found in \(changed)")
    let others = list.entries.filter { $0.key != key }
    invariant(again.entries.filter { $0.key != key } == others, "other lines have changed")
    for entry in list.entries {
      invariant(NameList.Key("\(entry.key)") == entry.key, "\(entry.key) is not read as itself")
    }
  }

  private static func checkPresentation(_ octets: [UInt8]) {
    guard let presentation = PresentationFormat(Array(octets.prefix(7))) else { return }
    if let format = ValueFormat(presentation) { check(format, Array(octets.dropFirst(7))) }
  }
}
