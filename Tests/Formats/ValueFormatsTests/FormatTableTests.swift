import AssignedValues
import Bluetooth
import Foundation
import Testing
import ValueFormats

/// The table of cases in Tests/Formats, which the tests of the Python package read, too.
@Suite struct FormatTableTests {
  private struct Table: Decodable {
    var values: [Value]
    var faults: [Fault]
    var presentations: [Presentation]
    var names: Names
  }

  private struct Value: Decodable {
    var format: String
    var value: String
    var text: String?
    var number: Double?
    var unit: String?
    var fields: [Field]?
  }

  private struct Field: Decodable, Equatable {
    var name: String
    var content: FormattedValue.Content
    var unit: String

    init(_ field: FormattedValue.Field) {
      (name, content, unit) = (field.name ?? "", field.content, field.unit)
    }

    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      name = try list.decode(String.self)
      if let flag = try? list.decode(Bool.self) {
        content = .flag(flag)
      } else if let number = try? list.decode(Double.self) {
        content = .number(number)
      } else if let text = try? list.decode(String.self) {
        content = .text(text)
      } else {
        content = .words(try list.decode([String].self))
      }
      unit = try list.decode(String.self)
    }
  }

  private struct Fault: Decodable {
    var format: String?
    var text: String?
    var error: String
  }

  private struct Presentation: Decodable {
    var descriptor: String
    var value: String
    var text: String?
    var number: Double?
    var unit: String?
  }

  private struct Names: Decodable {
    var text: String
    var lookups: [Lookup]
    var faults: [Fault]
  }

  private struct Lookup: Decodable {
    var uuid: String?
    var service: String?
    var address: String?
    var name: String?
    var value: String?
    var text: String?
  }

  private let table: Table

  init() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../formats.json")
    table = try JSONDecoder().decode(Table.self, from: Data(contentsOf: file))
  }

  private func octets(_ hex: String) throws -> [UInt8] { try #require(Hex.decode(hex)) }

  private static func error(_ format: String) -> String? {
    do throws(ValueFormatError) {
      _ = try ValueFormat(format)
      return nil
    } catch {
      return error.description
    }
  }

  @Test("each format reads its value")
  func values() throws {
    for value in table.values {
      let hex = value.value
      let read = try ValueFormat(value.format).read(try octets(hex))
      #expect(read?.text == value.text, "\(value.format) \(hex)")
      #expect(read?.quantity?.number == value.number, "\(value.format) \(hex)")
      if value.number != nil { #expect(read?.quantity?.unit == value.unit, "\(value.format)") }
      if let fields = value.fields { #expect(read?.fields.map(Field.init) == fields, "\(value.format)") }
    }
  }

  @Test("a format that is not valid has an error that names the remedy")
  func faults() {
    for fault in table.faults { #expect(Self.error(fault.format ?? "") == fault.error) }
    #expect(Self.error(String(repeating: "u8 a,", count: 300)) == "the format is longer than 1024 octets: shorten it")
  }

  @Test("the format that a device describes is applied")
  func presentations() throws {
    for row in table.presentations {
      let descriptor = try #require(PresentationFormat(try octets(row.descriptor)))
      let read = ValueFormat(descriptor)?.read(try octets(row.value))
      #expect(read?.text == row.text && read?.quantity?.number == row.number, "\(row.descriptor) \(row.value)")
      if row.number != nil { #expect(read?.quantity?.unit == row.unit) }
    }
  }

  @Test("the most particular name and format of a list count")
  func names() throws {
    let list = try NameList(table.names.text)
    for lookup in table.names.lookups {
      guard let uuid = lookup.uuid.flatMap({ BluetoothUUID($0) }) else {
        let address = try #require(lookup.address)
        #expect(list.name(ofDevice: address) == lookup.name)
        #expect(list.address(ofDevice: lookup.name?.uppercased() ?? "") == lookup.address)
        continue
      }
      let service = lookup.service.flatMap { BluetoothUUID($0) }
      #expect(list.name(of: uuid, in: service, of: lookup.address) == lookup.name, "\(uuid)")
      guard let value = lookup.value.flatMap({ Hex.decode($0) }) else { continue }
      let format = list.format(of: uuid, in: service, of: lookup.address)
      #expect(ValueMeaning(of: uuid, value: value, format: format)?.text == lookup.text, "\(uuid)")
    }
    for fault in table.names.faults {
      #expect { try NameList(fault.text ?? "") } throws: { "\($0)" == fault.error }
    }
  }

  @Test("a line of a file is replaced, added or removed, and everything else stays")
  func replacing() throws {
    let key = try #require(NameList.Key("2A19"))
    let text = "# mine\n2a19 = Old\n180F = Cell"
    #expect(NameList.replacing(key, in: text, with: "2A19 = New: u8 %") == "# mine\n2A19 = New: u8 %\n180F = Cell\n")
    #expect(NameList.replacing(key, in: text, with: nil) == "# mine\n180F = Cell\n")
    #expect(NameList.replacing(key, in: "", with: "2A19 = New") == "2A19 = New\n")
    let other = try NameList("2A19 = Theirs: u8*2\n2A1A = Other")
    let joined = try NameList("2A19 = Mine").followed(by: other)
    #expect(joined.name(of: 0x2A19) == "Mine" && joined.format(of: 0x2A19) != nil && joined.name(of: 0x2A1A) == "Other")
  }
}
